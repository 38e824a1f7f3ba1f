// SPDX-License-Identifier: Apache-2.0
#pragma once
// The classes by which kernels of different frameworks are compared. The store and the JSON output
// keep them as text.

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

enum class KernelGroup {
  kConvolution,
  kDense,  // fully connected layers and embeddings
  kRecurrent,
  kNormalisation,
  kPooling,
  kActivation,  // and other element-wise functions
  kLoss,
  kUpdate,
  kConversion,  // layout conversions, copies, concatenation
  kOther,       // of no layer, or of an unknown class
};

std::span<const std::string> KernelGroupNames();  // in the order of the enum
const std::string& Name(KernelGroup group);
Result<KernelGroup> ParseKernelGroup(std::string_view text);

}  // namespace tench
