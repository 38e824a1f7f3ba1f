// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the log of a training, step by step. Two formats are supported:
//  - the output of `caffe train`: both prefixes of glog, iteration lines of all versions;
//  - TensorFlow slim's training loop: "INFO:tensorflow:global step N: loss = L (T sec/step)".
// Unrelated lines are skipped, as is a truncated last line. Errors are "ORIGIN:LINE: …".
// Thread safety: pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

struct TrainingLog {
  // One entry per displayed step; the mean of D if only every D-th iteration was displayed.
  std::vector<int64_t> step_ns;
  std::vector<double> loss;
  int64_t first_step = 0;  // the number of the first entry's step
  int64_t iterations_per_entry = 1;
  int64_t wall_ns = 0;  // first to last time stamp; 0 if the format has none
  // How the training failed, if it did.
  enum class Failure { kNone, kOutOfMemory, kCrashed };
  Failure failure = Failure::kNone;
  std::string failure_text;  // one line
};

// The time of an iteration is the difference of two iteration lines: the update of the previous
// one, forward and backward of its own. The first has no update and is counted from the start of
// the optimisation. Time for testing is subtracted. A log of `tench train` states the time of its
// steps itself.
Result<TrainingLog> ReadCaffeLog(std::string_view text, std::string_view origin);

// The log of `caffe time`: the printed milliseconds of each forward and backward pass, and the
// initial loss for all of them, because nothing is updated.
Result<TrainingLog> ReadCaffeTimeLog(std::string_view text, std::string_view origin);

// The time of a step is the printed T.
Result<TrainingLog> ReadTensorflowLog(std::string_view text, std::string_view origin);

}  // namespace tench
