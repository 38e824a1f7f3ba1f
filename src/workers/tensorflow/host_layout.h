// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layout of a tensor in TensorFlow's memory: a permutation of the logical dimensions. Images
// are NHWC, convolution weights HWIO, weights of a fully connected layer (in, out). A flattened
// image stays HWC; the weights of its reader are permuted instead, so that no step moves the image.
// Copies between the two orders are exact. Plain values.

#include <span>
#include <vector>

#include "net/tensor.h"

namespace tench::tensorflow {

struct HostLayout {
  Shape sizes;  // the logical sizes that are moved; a flattened image still has its four
  // Physical dimension i is the logical dimension order[i]; empty = identity.
  std::vector<int> order;

  bool plain() const { return order.empty(); }
  Shape PhysicalSizes() const;
  bool operator==(const HostLayout&) const = default;
};

// Plain if the permutation moves no element.
HostLayout MakeLayout(Shape sizes, std::vector<int> order);

void ToPhysical(const HostLayout& layout, std::span<const float> logical,
                std::span<float> physical);
void ToLogical(const HostLayout& layout, std::span<const float> physical, std::span<float> logical);

}  // namespace tench::tensorflow
