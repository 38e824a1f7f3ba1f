// SPDX-License-Identifier: Apache-2.0
#include "axis/device_name.h"

#include <gtest/gtest.h>

namespace tench::device_name_test {
namespace {

TEST(DeviceNameTest, EverySpellingOfAGpuIsOneDevice) {
  const DeviceName first{DeviceKind::kGpu, 0}, thirteenth{DeviceKind::kGpu, 12};
  for (const std::string text : {"gpu", "gpu:0", "cuda", "cuda:0"})
    EXPECT_EQ(*ParseDevice(text), first) << text;
  for (const std::string text : {"gpu:12", "cuda:12"})
    EXPECT_EQ(*ParseDevice(text), thirteenth) << text;
  EXPECT_EQ(*ParseDevice("cpu"), DeviceName{});
  EXPECT_FALSE(ParseDevice("cpu")->is_gpu());
  EXPECT_TRUE(ParseDevice("cuda")->is_gpu());
}

TEST(DeviceNameTest, TheCanonicalSpellingReadsBackAsTheSameDevice) {
  EXPECT_EQ(ToString(*ParseDevice("cpu")), "cpu");
  EXPECT_EQ(ToString(*ParseDevice("gpu")), "gpu:0");
  EXPECT_EQ(ToString(*ParseDevice("cuda")), "gpu:0");
  EXPECT_EQ(ToString(*ParseDevice("cuda:9999")), "gpu:9999");
  for (const std::string text : {"cpu", "gpu", "cuda:3"}) {
    const DeviceName device = *ParseDevice(text);
    EXPECT_EQ(*ParseDevice(ToString(device)), device) << text;
  }
}

TEST(DeviceNameTest, RefusesEverythingElse) {
  for (const std::string text : {"", "CPU", "cpu:0", "gpu:", "gpu:00", "gpu:01", "gpu:-1", "gpu:x",
                                 "gpu:1 ", "gpu:99999", "gpus", "tpu", "cuda:0:1", ":0"})
    EXPECT_FALSE(ParseDevice(text).ok()) << text;
  EXPECT_EQ(ParseDevice("tpu").error().message, "'tpu' is not cpu, gpu, gpu:N, cuda or cuda:N");
}

}  // namespace
}  // namespace tench::device_name_test
