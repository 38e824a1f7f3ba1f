// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/host_layout.h"

#include <algorithm>

#include "base/error.h"

namespace tench::tensorflow {
namespace {

// Calls visit(physical position, logical position) in the physical order.
template <class Visit>
void Walk(const HostLayout& layout, const Visit& visit) {
  const size_t rank = layout.sizes.size();
  Shape strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * layout.sizes[i];
  const Shape sizes = layout.PhysicalSizes();
  Shape steps(rank), at(rank, 0);
  for (size_t i = 0; i < rank; ++i) steps[i] = strides[static_cast<size_t>(layout.order[i])];
  const int64_t count = ElementCount(sizes), inner = sizes[rank - 1], step = steps[rank - 1];
  int64_t logical = 0;
  for (int64_t physical = 0; physical < count; physical += inner) {
    for (int64_t i = 0; i < inner; ++i) visit(physical + i, logical + i * step);
    for (size_t d = rank - 1; d-- > 0;) {
      logical += steps[d];
      if (++at[d] < sizes[d]) break;
      logical -= steps[d] * sizes[d];
      at[d] = 0;
    }
  }
}

}  // namespace

Shape HostLayout::PhysicalSizes() const {
  if (plain()) return sizes;
  Shape physical;
  for (const int dimension : order) physical.push_back(sizes[static_cast<size_t>(dimension)]);
  return physical;
}

HostLayout MakeLayout(Shape sizes, std::vector<int> order) {
  // Dimensions of size 1 may stand anywhere: only the order of the others moves elements.
  std::vector<int> moved;
  for (const int dimension : order) {
    if (sizes[static_cast<size_t>(dimension)] > 1) moved.push_back(dimension);
  }
  HostLayout layout{std::move(sizes), std::move(order)};
  if (std::is_sorted(moved.begin(), moved.end())) return {layout.PhysicalSizes(), {}};
  return layout;
}

void ToPhysical(const HostLayout& layout, std::span<const float> logical,
                std::span<float> physical) {
  Check(logical.size() == physical.size(), "two orders of one tensor differ in size");
  if (layout.plain()) {
    std::copy(logical.begin(), logical.end(), physical.begin());
    return;
  }
  Walk(layout, [&](int64_t to, int64_t from) {
    physical[static_cast<size_t>(to)] = logical[static_cast<size_t>(from)];
  });
}

void ToLogical(const HostLayout& layout, std::span<const float> physical,
               std::span<float> logical) {
  Check(logical.size() == physical.size(), "two orders of one tensor differ in size");
  if (layout.plain()) {
    std::copy(physical.begin(), physical.end(), logical.begin());
    return;
  }
  Walk(layout, [&](int64_t from, int64_t to) {
    logical[static_cast<size_t>(to)] = physical[static_cast<size_t>(from)];
  });
}

}  // namespace tench::tensorflow
