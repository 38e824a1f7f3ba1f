// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/thread_sum.h"

#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/test_arrays.h"

namespace tench::native::thread_sum_test {
namespace {

TEST(ThreadSumTest, AddsTheSumsOfAllThreads) {
  for (const int threads : kThreadCounts) {
    const ThreadCount team(threads);
    ThreadSum sum;
    EXPECT_EQ(sum.Total(), 0);
    ParallelFor(1000, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) sum.Mine() += static_cast<double>(i);
    });
    EXPECT_EQ(sum.Total(), 999 * 1000 / 2);
  }
}

TEST(ThreadSumTest, GivesEachThreadASlotOfItsOwn) {
  const ThreadCount team(2);
  ThreadSum sum;
  double* slots[2] = {};
#pragma omp parallel
  slots[omp_get_thread_num()] = &sum.Mine();
  if (slots[1] == nullptr) GTEST_SKIP() << "OpenMP gave one thread only";
  EXPECT_GE(std::abs(slots[1] - slots[0]), 8);
}

}  // namespace
}  // namespace tench::native::thread_sum_test
