// SPDX-License-Identifier: Apache-2.0
#include "machine/sentinel.h"

#include <gtest/gtest.h>

namespace tench::sentinel_test {
namespace {

TEST(SentinelTest, TheSentinelTakesBothReadings) {
  Sentinel sentinel({0});
  const SentinelReading reading = sentinel.Read();
  EXPECT_GT(reading.compute_ns, 0);
  EXPECT_GT(reading.memory_ns, 0);
  Sentinel nowhere({});
  EXPECT_GT(nowhere.Read().compute_ns, 0);
}

}  // namespace
}  // namespace tench::sentinel_test
