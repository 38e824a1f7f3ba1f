// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "machine/gpu_series.h"

namespace tench::nvml_test {
namespace {

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override { setenv("TENCH_NVML", TENCH_NVML_STANDIN, 1); }
  void TearDown() override {
    unsetenv("TENCH_NVML");
    unsetenv("TENCH_NVML_STANDIN");
  }
};

TEST_F(NvmlTest, NamesTheDevicesThatAnswer) {
  const auto nvml = Nvml::Open();
  ASSERT_TRUE(nvml);
  ASSERT_EQ(nvml->devices().size(), 2u);
  EXPECT_EQ(nvml->devices()[0].name, "Stand-in A100");
  EXPECT_EQ(nvml->devices()[0].uuid, "GPU-0000");
  EXPECT_EQ(nvml->devices()[0].memory_bytes, int64_t{40} << 30);
  EXPECT_EQ(nvml->devices()[1].name, "Stand-in GT 710");
  EXPECT_EQ(nvml->driver_version(), "535.161.08");
}

TEST_F(NvmlTest, ReadsWhatEachDeviceOffers) {
  const auto nvml = Nvml::Open();
  ASSERT_TRUE(nvml);
  const pid_t self = getpid();
  const auto readings = nvml->Read({&self, 1});
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_EQ(readings[0].utilisation_percent, 0);
  EXPECT_EQ(readings[0].power_w, 100);
  EXPECT_EQ(readings[0].memory_used_bytes, int64_t{2} << 30);
  EXPECT_EQ(readings[0].process_memory_bytes, int64_t{3} << 30);
  EXPECT_EQ(readings[0].temperature_c, 61);
  EXPECT_FALSE(readings[1].utilisation_percent);
  EXPECT_FALSE(readings[1].power_w);
  EXPECT_FALSE(readings[1].process_memory_bytes);
  EXPECT_EQ(readings[1].memory_used_bytes, 0);
}

TEST_F(NvmlTest, AProcessThatDoesNotUseTheDeviceHasNoMemoryThere) {
  const auto nvml = Nvml::Open();
  ASSERT_TRUE(nvml);
  const pid_t other = 1;
  EXPECT_EQ(nvml->Read({&other, 1})[0].process_memory_bytes, 0);
  EXPECT_FALSE(nvml->Read()[0].process_memory_bytes) << "nobody was asked about";
}

TEST_F(NvmlTest, MeansAndPeaksOfARun) {
  const auto nvml = Nvml::Open();
  ASSERT_TRUE(nvml);
  GpuSeries series;
  for (int i = 0; i < 3; ++i) series.Add(nvml->Read());
  ASSERT_EQ(series.uses().size(), 2u);
  EXPECT_DOUBLE_EQ(series.uses()[0].utilisation_percent.mean, 50);
  EXPECT_DOUBLE_EQ(series.uses()[0].utilisation_percent.peak, 100);
  EXPECT_DOUBLE_EQ(series.uses()[0].power_w.mean, 200);
  EXPECT_DOUBLE_EQ(series.uses()[0].power_w.peak, 300);
  EXPECT_EQ(series.uses()[1].power_w.count, 0);
  EXPECT_EQ(series.uses()[0].process_memory_bytes.count, 0);
  EXPECT_DOUBLE_EQ(series.uses()[1].temperature_c.peak, 35);
}

TEST_F(NvmlTest, AnOldLibraryOffersLess) {
  setenv("TENCH_NVML", TENCH_NVML_OLD_STANDIN, 1);
  const auto nvml = Nvml::Open();
  ASSERT_TRUE(nvml);
  ASSERT_EQ(nvml->devices().size(), 1u);
  EXPECT_EQ(nvml->devices()[0].name, "Stand-in GTX 980");
  EXPECT_EQ(nvml->devices()[0].memory_bytes, 0);
  EXPECT_EQ(nvml->driver_version(), "");
  const pid_t self = getpid();
  const auto readings = nvml->Read({&self, 1});
  EXPECT_FALSE(readings[0].power_w);
  EXPECT_FALSE(readings[0].memory_used_bytes);
  EXPECT_EQ(readings[0].process_memory_bytes, 7);
}

TEST_F(NvmlTest, WithoutALibraryOrADriverThereIsNothingAndNothingIsSaid) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  setenv("TENCH_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  EXPECT_FALSE(Nvml::Open());
  setenv("TENCH_NVML", "", 1);
  EXPECT_FALSE(Nvml::Open());
  setenv("TENCH_NVML", "libm.so.6", 1);
  EXPECT_FALSE(Nvml::Open()) << "a library without the entry points";
  setenv("TENCH_NVML", TENCH_NVML_STANDIN, 1);
  setenv("TENCH_NVML_STANDIN", "no-driver", 1);
  EXPECT_FALSE(Nvml::Open());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(GpuSeriesTest, ASampleTakesWhatTheDriverTells) {
  Sample sample;
  AddReading({}, sample);
  EXPECT_EQ(sample, Sample{});
  GpuReading reading;
  reading.utilisation_percent = 41.6, reading.memory_used_bytes = 900,
  reading.process_memory_bytes = 500;
  AddReading(reading, sample);
  EXPECT_EQ(sample.gpu_use_percent, 42);
  EXPECT_EQ(sample.gpu_memory_bytes, 500);
  reading.process_memory_bytes.reset();
  AddReading(reading, sample);
  EXPECT_EQ(sample.gpu_memory_bytes, 900);
}

TEST(GpuSeriesTest, WithoutAGpuThereIsNoUse) {
  GpuSeries series;
  series.Add({});
  EXPECT_TRUE(series.uses().empty());
}

TEST(GpuSeriesTest, APeakMayBeNegative) {
  MeanPeak value;
  value.Add(-3);
  value.Add(-5);
  EXPECT_DOUBLE_EQ(value.peak, -3);
  EXPECT_DOUBLE_EQ(value.mean, -4);
}

}  // namespace
}  // namespace tench::nvml_test
