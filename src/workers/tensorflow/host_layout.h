// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a tensor of the network lies in TensorFlow's memory: the logical dimensions in another order,
// nothing else. Images are NHWC, filters HWIO, the weights of a fully connected layer (in, out),
// and a flattened image keeps the order HWC, which its reader's weights are converted to instead of
// moving the image in every step. Copies between the two orders are exact.

#include <span>
#include <vector>

#include "net/tensor.h"

namespace tench::tensorflow {

struct HostLayout {
  Shape sizes;  // the logical sizes that are moved; a flattened image still has its four
  std::vector<int>
      order;  // physical dimension i is the logical dimension order[i]; empty = as it is

  bool plain() const { return order.empty(); }
  Shape PhysicalSizes() const;
  bool operator==(const HostLayout&) const = default;
};

// The same, but plain where moving would change nothing.
HostLayout MakeLayout(Shape sizes, std::vector<int> order);

void ToPhysical(const HostLayout& layout, std::span<const float> logical,
                std::span<float> physical);
void ToLogical(const HostLayout& layout, std::span<const float> physical, std::span<float> logical);

}  // namespace tench::tensorflow
