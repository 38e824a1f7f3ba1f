// SPDX-License-Identifier: Apache-2.0
#include "data/batch_loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace tench::batch_loader_test {
namespace {

constexpr int64_t kRows = 7;

// The value of a row is a function of its step and row.
Status FillRow(int64_t step, int64_t begin, int64_t end, std::vector<HostTensor>& batch) {
  for (int64_t row = begin; row < end; ++row)
    batch[0].i32[static_cast<size_t>(row)] = static_cast<int32_t>(step * 100 + row);
  return Ok();
}

void Size(std::vector<HostTensor>& batch) {
  batch.resize(1);
  batch[0].i32.assign(kRows, -1);
}

BatchLoader::Options OptionsOf(int64_t threads, int64_t prefetch) {
  BatchLoader::Options options;
  options.threads = threads;
  options.prefetch = prefetch;
  options.rows = kRows;
  options.chunk = 2;
  return options;
}

TEST(BatchLoaderTest, GivesTheSameBatchesInOrderAtAnyNumberOfThreads) {
  for (const int64_t threads : {1, 3, 8}) {
    for (const int64_t prefetch : {0, 1, 5}) {
      BatchLoader loader(
          OptionsOf(threads, prefetch), [] { return FillRow; }, Size);
      for (int64_t step = 0; step < 50; ++step) {
        const auto batch = loader.Next();
        ASSERT_TRUE(batch.ok());
        for (int64_t row = 0; row < kRows; ++row)
          ASSERT_EQ((*batch)[0].i32[static_cast<size_t>(row)], step * 100 + row);
      }
      EXPECT_GE(loader.work().rows, 50 * kRows);
    }
  }
}

TEST(BatchLoaderTest, IsNeverAheadByMoreThanThePrefetchedBatches) {
  for (const int64_t prefetch : {0, 1, 3}) {
    std::atomic<int64_t> asked{0}, furthest{0};
    const auto fill = [&](int64_t step, int64_t begin, int64_t end,
                          std::vector<HostTensor>& batch) -> Status {
      furthest = std::max(furthest.load(), step - asked.load());
      return FillRow(step, begin, end, batch);
    };
    // One thread, so that `furthest` has one writer.
    BatchLoader loader(
        OptionsOf(1, prefetch), [&] { return fill; }, Size);
    for (int64_t step = 0; step < 20; ++step) {
      asked = step;
      ASSERT_TRUE(loader.Next().ok());
    }
    EXPECT_LE(furthest.load(), prefetch);
  }
}

TEST(BatchLoaderTest, ReportsTheFirstBrokenRowOfAStepAtThatStep) {
  const auto fill = [](int64_t step, int64_t begin, int64_t end,
                       std::vector<HostTensor>& batch) -> Status {
    if (step == 2 && begin >= 2) return Failed("row {} is broken", begin);
    return FillRow(step, begin, end, batch);
  };
  BatchLoader loader(
      OptionsOf(4, 4), [&] { return fill; }, Size);
  ASSERT_TRUE(loader.Next().ok());
  ASSERT_TRUE(loader.Next().ok());
  const auto broken = loader.Next();
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message, "row 2 is broken");
  EXPECT_TRUE(loader.Next().ok());
}

TEST(BatchLoaderTest, MakesAnExceptionAnError) {
  const auto fill = [](int64_t step, int64_t, int64_t, std::vector<HostTensor>&) -> Status {
    if (step == 1) throw std::bad_alloc();
    throw std::runtime_error("thrown");
  };
  BatchLoader loader(
      OptionsOf(2, 1), [&] { return fill; }, Size);
  EXPECT_EQ(loader.Next().error().message, "loading a batch: thrown");
  EXPECT_EQ(loader.Next().error().kind, ErrorKind::kOutOfMemory);
}

TEST(BatchLoaderTest, FillsNoBatchBeyondTheLastStep) {
  std::atomic<int64_t> last{0};
  const auto fill = [&](int64_t step, int64_t begin, int64_t end,
                        std::vector<HostTensor>& batch) -> Status {
    last = std::max(last.load(), step);
    return FillRow(step, begin, end, batch);
  };
  BatchLoader::Options options = OptionsOf(1, 8);
  options.steps = 3;
  {
    BatchLoader loader(
        options, [&] { return fill; }, Size);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.Next().ok());
    EXPECT_EQ(loader.work().rows, 3 * kRows);
  }
  EXPECT_EQ(last, 2);
}

}  // namespace
}  // namespace tench::batch_loader_test
