// SPDX-License-Identifier: Apache-2.0
#pragma once
// A reduction over ParallelFor's threads. Each thread adds to its slot, which has a cache line of
// its own, and Total adds the slots in order, so that the result does not depend on timing.
//
// Thread safety: Mine may be called by all threads of one team at once, Total after they are done.
// Teams of more than 256 threads are not supported: the rest would share the last slot.

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
