// SPDX-License-Identifier: Apache-2.0
#include "worker/device_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::device_table_test {
namespace {

using testing::ElementsAre;

Description Worker(const GpuSupport& gpus) {
  Description worker;
  worker.name = "fake";
  DescribeDevices(gpus, worker);
  return worker;
}

TEST(DeviceTableTest, ListsTheCpuAndEveryGpuInTheCanonicalSpelling) {
  EXPECT_THAT(Worker({0, "built without CUDA"}).devices, ElementsAre("cpu"));
  EXPECT_EQ(Worker({0, "built without CUDA"}).facts.at(kGpuFact), "built without CUDA");
  EXPECT_THAT(Worker({2, ""}).devices, ElementsAre("cpu", "gpu:0", "gpu:1"));
  EXPECT_EQ(Worker({2, ""}).facts.at(kGpuFact), "2 visible");
}

TEST(DeviceTableTest, AcceptsEverySpellingOfAListedDevice) {
  const Description worker = Worker({2, ""});
  for (const std::string device : {"cpu", "gpu", "cuda", "gpu:0", "cuda:0", "gpu:1", "cuda:1"})
    EXPECT_TRUE(CheckDevice(device, worker).ok()) << device;
  Description other = worker;
  other.devices = {"cpu", "cuda:0"};
  EXPECT_TRUE(CheckDevice("gpu", other).ok());
}

TEST(DeviceTableTest, SaysWhyThereIsNoGpu) {
  const Status missing = CheckDevice("cuda", Worker({0, "no CUDA device: nothing is plugged in"}));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(missing.error().message,
            "fake has no device 'gpu:0' (it has: cpu): no CUDA device: nothing is plugged in");
}

TEST(DeviceTableTest, AnIndexBeyondTheLastGpuIsNotALackOfGpus) {
  EXPECT_EQ(CheckDevice("gpu:2", Worker({2, ""})).error().message,
            "fake has no device 'gpu:2' (it has: cpu, gpu:0, gpu:1)");
}

TEST(DeviceTableTest, AnUnknownNameIsUnsupported) {
  const Status unknown = CheckDevice("tpu", Worker({0, "none"}));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(unknown.error().message, "device: 'tpu' is not cpu, gpu, gpu:N, cuda or cuda:N");
}

}  // namespace
}  // namespace tench::device_table_test
