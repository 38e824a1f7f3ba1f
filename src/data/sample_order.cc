// SPDX-License-Identifier: Apache-2.0
#include "data/sample_order.h"

#include <numeric>
#include <utility>

#include "base/error.h"
#include "net/fill.h"

namespace tench {

std::vector<uint32_t> ShuffledOrder(uint64_t seed, int64_t epoch, int64_t count) {
  std::vector<uint32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0u);
  const Generator generator(seed, "data.order");
  const uint64_t first = static_cast<uint64_t>(epoch) * static_cast<uint64_t>(count);
  for (uint64_t i = 0; i + 1 < order.size(); ++i) {
    const auto other = static_cast<size_t>(
        generator.Integer(first + i, static_cast<int64_t>(i), static_cast<int64_t>(count)));
    std::swap(order[i], order[other]);
  }
  return order;
}

SampleOrder::SampleOrder(uint64_t seed, int64_t count, bool shuffle)
    : seed_(seed), count_(count), shuffle_(shuffle) {
  Check(count > 0 && count < (int64_t{1} << 32), "an order of too few or too many samples");
}

int64_t SampleOrder::At(int64_t position) const {
  const int64_t index = position % count_;
  if (!shuffle_) return index;
  return (*OrderOf(position / count_))[static_cast<size_t>(index)];
}

SampleOrder::Permutation SampleOrder::OrderOf(int64_t epoch) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Epoch& kept = epochs_[epoch % 2];
  if (kept.number != epoch) {
    kept.order = std::make_shared<const std::vector<uint32_t>>(ShuffledOrder(seed_, epoch, count_));
    kept.number = epoch;
  }
  return kept.order;
}

}  // namespace tench
