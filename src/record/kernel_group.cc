// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_group.h"

#include <array>

#include "base/text.h"

namespace tench {

std::span<const std::string> KernelGroupNames() {
  static const std::array<std::string, 10> names = {
      "convolution", "dense", "recurrent", "normalisation",           "pooling",
      "activation",  "loss",  "update",    "layout conversion, copy", "other"};
  return names;
}

const std::string& Name(KernelGroup group) {
  return KernelGroupNames()[static_cast<size_t>(group)];
}

Result<KernelGroup> ParseKernelGroup(std::string_view text) {
  return static_cast<KernelGroup>(TENCH_TRY(PositionOf("kernel group", text, KernelGroupNames())));
}

}  // namespace tench
