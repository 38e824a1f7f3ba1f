// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/buffer_plan.h"

#include <algorithm>
#include <numeric>

namespace tench {
namespace {

// The free buffer for `elements`, or sizes.size() if every buffer is in use.
size_t ChooseBuffer(const std::vector<int64_t>& sizes, const std::vector<int64_t>& busy_until,
                    const Lifetime& lifetime) {
  size_t best = sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (busy_until[i] >= lifetime.first) continue;
    const bool fits = sizes[i] >= lifetime.elements;
    const bool best_fits = best < sizes.size() && sizes[best] >= lifetime.elements;
    if (best == sizes.size() || (fits && !best_fits) || (fits && sizes[i] < sizes[best]) ||
        (!fits && !best_fits && sizes[i] > sizes[best])) {
      best = i;
    }
  }
  return best;
}

}  // namespace

int64_t BufferPlan::TotalElements() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

BufferPlan PlanBuffers(std::span<const Lifetime> lifetimes) {
  BufferPlan plan;
  plan.buffer.resize(lifetimes.size(), 0);
  std::vector<int64_t> busy_until;
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].first < lifetimes[b].first; });
  for (const size_t tensor : order) {
    const Lifetime& lifetime = lifetimes[tensor];
    if (lifetime.elements == 0) continue;
    const size_t chosen = ChooseBuffer(plan.sizes, busy_until, lifetime);
    if (chosen == plan.sizes.size()) {
      plan.sizes.push_back(0);
      busy_until.push_back(0);
    }
    plan.sizes[chosen] = std::max(plan.sizes[chosen], lifetime.elements);
    busy_until[chosen] = lifetime.last;
    plan.buffer[tensor] = chosen;
  }
  return plan;
}

}  // namespace tench
