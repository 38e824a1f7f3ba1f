// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/hdf5_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/file.h"

namespace tench::caffe_worker::hdf5_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Hdf5FileTest : public testing::Test {
 protected:
  std::filesystem::path File() const { return folder_.path() / "batch.h5"; }
  TemporaryFolder folder_ = *TemporaryFolder::Make("hdf5-test");
};

TEST_F(Hdf5FileTest, KeepsEveryBit) {
  const std::vector<float> odd = {-0.0f, 1e-45f, 3.4e38f, std::nextafterf(1, 2), 0.1f, -7};
  const std::vector<HostTensor> inputs = {{"a/data", {DType::kF32, {2, 1, 3}}, odd, {}},
                                          {"label", {DType::kI32, {2}}, {}, {999, 3}}};
  ASSERT_TRUE(WriteBatch(File(), inputs, 2).ok());
  std::vector<float> data(6), label(2);
  ASSERT_TRUE(ReadNumbers(File(), InputName(0), data).ok());
  ASSERT_TRUE(ReadNumbers(File(), InputName(1), label).ok());
  EXPECT_EQ(std::memcmp(data.data(), odd.data(), sizeof(float) * 6), 0);
  EXPECT_THAT(label, ElementsAre(999, 3));
}

TEST_F(Hdf5FileTest, WritesTheFirstSamplesOnlyWhereTheRestIsNotWanted) {
  const std::vector<HostTensor> inputs = {{"data", {DType::kF32, {3, 2}}, {1, 2, 3, 4, 5, 6}, {}}};
  ASSERT_TRUE(WriteBatch(File(), inputs, 2).ok());
  std::vector<float> data(4);
  ASSERT_TRUE(ReadNumbers(File(), InputName(0), data).ok());
  EXPECT_THAT(data, ElementsAre(1, 2, 3, 4));
  std::vector<float> more(6);
  EXPECT_THAT(ReadNumbers(File(), InputName(0), more).error().message,
              HasSubstr("has 4 values, expected 6"));
}

TEST_F(Hdf5FileTest, SaysWhatIsMissing) {
  std::vector<float> numbers(1);
  EXPECT_THAT(ReadNumbers(File(), "data", numbers).error().message, HasSubstr("no HDF5 file"));
  ASSERT_TRUE(WriteFileAtomically(File(), "no HDF5 at all").ok());
  EXPECT_FALSE(ReadNumbers(File(), "data", numbers).ok());
  EXPECT_FALSE(WriteBatch("/nowhere/batch.h5",
                          std::vector<HostTensor>{{"data", {DType::kF32, {1}}, {1}, {}}}, 1)
                   .ok());
}

}  // namespace
}  // namespace tench::caffe_worker::hdf5_file_test
