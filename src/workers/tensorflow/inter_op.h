// SPDX-License-Identifier: Apache-2.0
#pragma once
// The option inter_op: the size of TensorFlow's inter-op thread pool.

#include <string>

#include "base/error.h"

namespace tench::tensorflow {

inline constexpr int64_t kInCaller = -1;

// "auto" is the job's threads; "caller" is kInCaller.
Result<int64_t> ParseInterOp(const std::string& text, int64_t threads);
std::string InterOpName(int64_t inter_op);

}  // namespace tench::tensorflow
