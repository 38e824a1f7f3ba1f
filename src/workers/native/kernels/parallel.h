// SPDX-License-Identifier: Apache-2.0
#pragma once
// A parallel loop over a range. It uses the calling thread's OpenMP team, which is the one that
// oneDNN uses, so that the process has a single thread pool. The split is static: an element is
// always processed by the same thread, and results do not depend on timing.

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace tench::native {

// Calls work(first, last) on each thread with its share of [0, count). Shares begin at multiples of
// `grain`, the least amount of work that pays for waking a thread. An empty share is not called.
template <class Work>
void ParallelFor(int64_t count, int64_t grain, const Work& work) {
  const int64_t grains = (count + grain - 1) / grain;
  if (grains <= 1 || omp_get_max_threads() == 1) {
    if (count > 0) work(int64_t{0}, count);
    return;
  }
#pragma omp parallel
  {
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const int64_t first = std::min(count, grains * thread / threads * grain);
    const int64_t last = std::min(count, grains * (thread + 1) / threads * grain);
    if (first < last) work(first, last);
  }
}

}  // namespace tench::native
