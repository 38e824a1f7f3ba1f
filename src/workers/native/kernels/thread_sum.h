// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sum over ParallelFor's threads: each adds into a slot of its own, on a cache line of its own,
// and the slots are added in order, so that the result does not depend on timing.

#include <omp.h>

#include <algorithm>

namespace tench::native {

class ThreadSum {
 public:
  double& Mine() { return slots_[std::min(omp_get_thread_num(), kSlots - 1)].sum; }
  double Total() const {
    double total = 0;
    for (const Slot& slot : slots_) total += slot.sum;
    return total;
  }

 private:
  static constexpr int kSlots = 256;
  struct alignas(64) Slot {
    double sum = 0;
  };
  Slot slots_[kSlots];
};

}  // namespace tench::native
