// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order of the samples: that of the files, or a Fisher-Yates shuffle per epoch that depends on
// (seed, epoch) alone. docs/data.md has the formula. Thread safety: any number of threads may call
// At; the orders of the last two epochs are kept behind a lock.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tench {

class SampleOrder {
 public:
  SampleOrder(uint64_t seed, int64_t count, bool shuffle);

  // The sample at a position of the endless sequence of epochs.
  int64_t At(int64_t position) const;

 private:
  using Permutation = std::shared_ptr<const std::vector<uint32_t>>;
  struct Epoch {
    int64_t number = -1;
    Permutation order;
  };
  Permutation OrderOf(int64_t epoch) const;

  uint64_t seed_;
  int64_t count_;
  bool shuffle_;
  mutable std::mutex mutex_;
  mutable Epoch epochs_[2];  // by the parity of their number
};

// The permutation of one epoch.
std::vector<uint32_t> ShuffledOrder(uint64_t seed, int64_t epoch, int64_t count);

}  // namespace tench
