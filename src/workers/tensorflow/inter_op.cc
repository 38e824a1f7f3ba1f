// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/inter_op.h"

#include "base/text.h"

namespace tench::tensorflow {
namespace {

constexpr int64_t kMaxInterOp = 1024;

}  // namespace

Result<int64_t> ParseInterOp(const std::string& text, int64_t threads) {
  if (text == "auto") return threads;
  if (text == "caller") return kInCaller;
  const auto number = ParseInteger(text);
  if (number.ok() && *number >= 1 && *number <= kMaxInterOp) return *number;
  return Unsupported("option inter_op cannot be '{}': it is auto, caller or a number from 1 to {}",
                     Printable(text), kMaxInterOp);
}

std::string InterOpName(int64_t inter_op) {
  return inter_op == kInCaller ? "caller" : std::to_string(inter_op);
}

}  // namespace tench::tensorflow
