// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/parallel.h"

#include <mutex>

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::parallel_test {
namespace {

struct Share {
  int64_t first, last;
  bool operator==(const Share&) const = default;
};

std::vector<Share> SharesOf(int64_t count, int64_t grain, int threads) {
  const ThreadCount team(threads);
  std::vector<Share> shares;
  std::mutex mutex;
  ParallelFor(count, grain, [&](int64_t first, int64_t last) {
    const std::lock_guard lock(mutex);
    shares.push_back({first, last});
  });
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.first < b.first; });
  return shares;
}

TEST(ParallelForTest, SplitsARangeIntoSharesOfWholeGrains) {
  EXPECT_EQ(SharesOf(10, 1, 2), (std::vector<Share>{{0, 5}, {5, 10}}));
  EXPECT_EQ(SharesOf(10, 4, 2), (std::vector<Share>{{0, 4}, {4, 10}}));
  EXPECT_EQ(SharesOf(10, 1, 3), (std::vector<Share>{{0, 3}, {3, 6}, {6, 10}}));
}

TEST(ParallelForTest, CallsNoEmptyShare) {
  EXPECT_TRUE(SharesOf(0, 4, 2).empty());
  EXPECT_EQ(SharesOf(2, 1, 3).size(), 2u);
}

TEST(ParallelForTest, KeepsOneGrainOnOneThread) {
  EXPECT_EQ(SharesOf(4, 4, 3), (std::vector<Share>{{0, 4}}));
  EXPECT_EQ(SharesOf(100, 1, 1), (std::vector<Share>{{0, 100}}));
}

TEST(ParallelForTest, CoversEachElementOnce) {
  for (const int threads : kThreadCounts) {
    for (const int64_t count : {1, 7, 64, 1001}) {
      for (const int64_t grain : {1, 3, 16, 2000}) {
        int64_t next = 0;
        for (const Share& share : SharesOf(count, grain, threads)) {
          EXPECT_EQ(share.first, next);
          EXPECT_EQ(share.first % grain, 0);
          next = share.last;
        }
        EXPECT_EQ(next, count);
      }
    }
  }
}

}  // namespace
}  // namespace tench::native::parallel_test
