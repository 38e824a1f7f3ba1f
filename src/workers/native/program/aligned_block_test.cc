// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/aligned_block.h"

#include <gtest/gtest.h>

#include <utility>

namespace tench::native {
namespace {

TEST(AlignedBlockTest, IsZeroedPageAlignedAndWritable) {
  const AlignedBlock block = *AlignedBlock::Make(3 << 20);
  EXPECT_EQ(block.bytes(), 3 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % 4096, 0u);
  for (int64_t i = 0; i < block.bytes(); i += 4095) ASSERT_EQ(block.data()[i], 0) << i;
  block.data()[block.bytes() - 1] = 7;
  EXPECT_EQ(block.data()[block.bytes() - 1], 7);
}

TEST(AlignedBlockTest, NoBytesNeedNoMapping) {
  const AlignedBlock block = *AlignedBlock::Make(0);
  EXPECT_EQ(block.data(), nullptr);
  EXPECT_EQ(block.bytes(), 0);
}

TEST(AlignedBlockTest, MovingTransfersTheMapping) {
  AlignedBlock first = *AlignedBlock::Make(8192);
  char* const data = first.data();
  data[5] = 3;
  AlignedBlock second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.bytes(), 0);
  AlignedBlock third;
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.bytes(), 8192);
  EXPECT_EQ(third.data()[5], 3);
}

TEST(AlignedBlockTest, MoreThanTheAddressSpaceIsOutOfMemory) {
  const Result<AlignedBlock> block = AlignedBlock::Make(int64_t{1} << 62);
  ASSERT_FALSE(block.ok());
  EXPECT_EQ(block.error().kind, ErrorKind::kOutOfMemory);
}

TEST(AlignedBlockTest, AvailableBytesAreSomeAndNotMoreThanAnyMachineHas) {
  EXPECT_GT(AvailableBytes(), 1 << 20);
  EXPECT_LT(AvailableBytes(), int64_t{1} << 50);
}

}  // namespace
}  // namespace tench::native
