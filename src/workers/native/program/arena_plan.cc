// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/arena_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace tench::native {
namespace {

int64_t Aligned(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool Overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

struct Placed {
  int64_t begin, end;
  size_t index;
};

// The lowest offset whose gap holds the buffer between those of overlapping lifetimes. `placed` is
// sorted by begin.
int64_t LowestGap(const Lifetime& life, std::span<const Lifetime> lifetimes,
                  const std::vector<Placed>& placed) {
  const int64_t bytes = Aligned(life.bytes);
  int64_t offset = 0;
  for (const Placed& other : placed) {
    if (!Overlap(life, lifetimes[other.index])) continue;
    if (offset + bytes <= other.begin) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

ArenaPlan PlaceInOrder(std::span<const Lifetime> lifetimes, const std::vector<size_t>& order) {
  ArenaPlan plan{std::vector<int64_t>(lifetimes.size()), 0};
  std::vector<Placed> placed;
  placed.reserve(order.size());
  for (size_t index : order) {
    if (lifetimes[index].bytes == 0) continue;
    const int64_t begin = LowestGap(lifetimes[index], lifetimes, placed);
    const Placed next{begin, begin + Aligned(lifetimes[index].bytes), index};
    const auto at =
        std::upper_bound(placed.begin(), placed.end(), next,
                         [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    placed.insert(at, next);
    plan.offsets[index] = begin;
    plan.bytes = std::max(plan.bytes, next.end);
  }
  return plan;
}

}  // namespace

ArenaPlan PlanArena(std::span<const Lifetime> lifetimes) {
  const auto area = [](const Lifetime& life) {
    return static_cast<double>(life.bytes) * (life.last - life.first + 1);
  };
  using Before = std::function<bool(const Lifetime&, const Lifetime&)>;
  const std::vector<Before> orders = {
      [](const Lifetime& a, const Lifetime& b) { return a.bytes > b.bytes; },
      [&](const Lifetime& a, const Lifetime& b) { return area(a) > area(b); },
      [](const Lifetime& a, const Lifetime& b) { return a.last - a.first > b.last - b.first; },
  };
  ArenaPlan best;
  for (size_t i = 0; i < orders.size(); ++i) {
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return orders[i](lifetimes[a], lifetimes[b]); });
    ArenaPlan plan = PlaceInOrder(lifetimes, order);
    if (i == 0 || plan.bytes < best.bytes) best = std::move(plan);
  }
  return best;
}

int64_t LiveBytes(std::span<const Lifetime> lifetimes) {
  std::map<int64_t, int64_t> change;
  for (const Lifetime& life : lifetimes) {
    change[life.first] += Aligned(life.bytes);
    change[life.last + 1] -= Aligned(life.bytes);
  }
  int64_t live = 0, peak = 0;
  for (const auto& [step, bytes] : change) peak = std::max(peak, live += bytes);
  return peak;
}

}  // namespace tench::native
