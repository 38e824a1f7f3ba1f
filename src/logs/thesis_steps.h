// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the 2017 study's loss_{machine}_{library}.csv: one line per iteration,
// network,mode,batch,step,loss,time. Lines of one training stand together, in the order of their
// steps. Errors are "ORIGIN:LINE: …". Thread safety: pure.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "logs/training_log.h"

namespace tench {

struct ThesisTraining {
  std::string network, mode;  // mode: "CPU" or "GPU"
  int64_t batch = 0;
  TrainingLog log;
};
Result<std::vector<ThesisTraining>> ReadThesisSteps(std::string_view text, std::string_view origin);

// The machine and library in a file's name.
struct ThesisFile {
  std::string machine, library;
};
Result<ThesisFile> ParseThesisName(std::string_view name);

}  // namespace tench
