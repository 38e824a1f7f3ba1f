// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tench::thread_pool_test {
namespace {

TEST(ThreadPoolTest, DoesEveryPieceOnceWhateverTheNumberOfThreads) {
  for (const int64_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t pieces : {0, 1, 3, 1000}) {
      std::vector<int> done(pieces, 0);
      pool.Run(pieces, [&](int64_t piece, int64_t thread) {
        EXPECT_LT(thread, threads);
        ++done[piece];
      });
      EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), pieces);
      EXPECT_EQ(std::count(done.begin(), done.end(), 1), pieces);
    }
  }
}

TEST(ThreadPoolTest, SplitsARangeWithoutGapsOrOverlaps) {
  ThreadPool pool(2);
  std::vector<int> touched(1003, 0);
  pool.Split(1003, 10, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) ++touched[i];
  });
  EXPECT_EQ(std::count(touched.begin(), touched.end(), 1), 1003);
}

}  // namespace
}  // namespace tench::thread_pool_test
