// SPDX-License-Identifier: Apache-2.0
#include "profile/kernel_class.h"

#include <algorithm>
#include <array>

#include "net/op_traits.h"

namespace tench {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool HoldsAny(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool IsConversion(std::string_view kernel) {
  constexpr std::array<std::string_view, 9> kParts = {"reorder", "transpose",  "swapaxes",
                                                      "layout",  "contiguous", "aten::clone",
                                                      "copy",    "to_mkldnn",  "to_dense"};
  return HoldsAny(kernel, kParts) || kernel == "cast";
}

KernelGroup GroupOfOp(const Op& op) {
  return std::visit(
      Overload{[](const Convolution&) { return KernelGroup::kConvolution; },
               [](const AnyOf<FullyConnected, Embedding> auto&) { return KernelGroup::kDense; },
               [](const AnyOf<Lstm, MeanOverTime> auto&) { return KernelGroup::kRecurrent; },
               [](const AnyOf<BatchNorm, Lrn, Scale> auto&) { return KernelGroup::kNormalisation; },
               [](const Pooling&) { return KernelGroup::kPooling; },
               [](const AnyOf<Relu, Sigmoid, Tanh, Power, Dropout, Add, Multiply, Maximum> auto&) {
                 return KernelGroup::kActivation;
               },
               [](const Softmax&) { return KernelGroup::kLoss; },
               [](const LossOp auto&) { return KernelGroup::kLoss; },
               [](const AnyOf<Input, Concat, Slice, Flatten, Reshape> auto&) {
                 return KernelGroup::kConversion;
               }},
      op);
}

}  // namespace

KernelGroup GroupOf(const Op* op, const ProfileRow& row) {
  if (row.direction == "update") return KernelGroup::kUpdate;
  if (IsConversion(Lower(row.kernel))) return KernelGroup::kConversion;
  return op == nullptr ? KernelGroup::kOther : GroupOfOp(*op);
}

bool IsFastAlgorithm(std::string_view implementation) {
  constexpr std::array<std::string_view, 3> kParts = {"winograd", "wino", "fft"};
  return HoldsAny(Lower(implementation), kParts);
}

}  // namespace tench
