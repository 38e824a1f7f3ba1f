// SPDX-License-Identifier: Apache-2.0
#pragma once
// A training as its log tells it, step by step. Two formats are read: what `caffe train` writes
// (both prefixes of its logging library, all versions' iteration lines), and what TensorFlow's slim
// training loop writes ("INFO:tensorflow:global step N: loss = L (T sec/step)"). Lines of other
// things are passed over; a half line at the end of a cut log too. Errors are "ORIGIN:LINE: …".
// Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

struct TrainingLog {
  // One entry per displayed step. Where only every D-th iteration was displayed, the mean of D.
  std::vector<int64_t> step_ns;
  std::vector<double> loss;
  int64_t first_step = 0;  // the number of the first
  int64_t iterations_per_entry = 1;
  int64_t wall_ns = 0;  // first to last time stamp; 0 where the format has none
  // How the training failed, if it did.
  enum class Failure { kNone, kOutOfMemory, kCrashed };
  Failure failure = Failure::kNone;
  std::string failure_text;  // one line
};

// Time per iteration is the distance of two iteration lines: the update of the one before and
// forward and backward of its own. So the first has no update in it; it is counted from the start
// of the optimisation. Time that was spent on testing is taken off.
Result<TrainingLog> ReadCaffeLog(std::string_view text, std::string_view origin);

// Time per step is the T that the line says.
Result<TrainingLog> ReadTensorflowLog(std::string_view text, std::string_view origin);

}  // namespace tench
