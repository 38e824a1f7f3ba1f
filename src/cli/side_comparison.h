// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two sides of stored results, opened and compared: what `tench compare` prints and what the gate
// of `tench sweep` judges. A side is written as in `tench compare` (report/run_selector.h). Reads
// the results files; owns nothing after it returns.

#include <string>
#include <vector>

#include "base/error.h"
#include "report/comparison.h"

namespace tench {

struct SideRequest {
  std::string a, b;
  std::string database;  // of sides that name none
  std::vector<std::string> only;
  double margin = kDefaultMargin;
  StepTime time = StepTime::kShortest;
};

// Fails if a side matches no run or no pair exists; the message says what the file has.
Result<Comparison> CompareSides(const SideRequest& request);

// The value of --margin: "2%" or "0.02".
Result<double> ParseMargin(const std::string& text);

}  // namespace tench
