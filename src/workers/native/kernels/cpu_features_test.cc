// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/cpu_features.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace tench::native::cpu_features_test {
namespace {

std::set<std::string> KernelReportedFlags() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(CpuFeaturesTest, AreThoseThatTheKernelReports) {
  const std::set<std::string> flags = KernelReportedFlags();
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  const bool avx2 = flags.contains("avx2") && flags.contains("fma"),
             avx512 = flags.contains("avx512f");
  EXPECT_EQ(HasAvx2(), avx2);
  EXPECT_EQ(HasAvx512(), avx512);
  EXPECT_EQ(WidestIsa(), avx512 ? Isa::kAvx512 : avx2 ? Isa::kAvx2 : Isa::kPortable);
}

}  // namespace
}  // namespace tench::native::cpu_features_test
