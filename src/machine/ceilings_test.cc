// SPDX-License-Identifier: Apache-2.0
#include "machine/ceilings.h"

#include <gtest/gtest.h>

#include <array>

namespace tench::ceilings_test {
namespace {

TEST(CeilingsTest, TheTimedKernelReallyMultipliesAndAdds) {
  for (const std::string& isa : VectorIsas())
    EXPECT_EQ(RunMultiplyAdds(isa, 3, 0.5f, 2), 2 * (1 + 0.5f + 0.25f)) << isa;
}

TEST(CeilingsTest, EveryIsaAndEveryCacheLevelHasACeilingPerThreadCount) {
  CpuFacts cpu;
  cpu.caches = {
      {1, "Data", 32 << 10, 1}, {1, "Instruction", 32 << 10, 1}, {2, "Unified", 1 << 20, 1}};
  const std::array<int64_t, 2> threads = {1, 2};
  const std::vector<Ceiling> ceilings = MeasureCeilings(cpu, threads);
  if (VectorIsas().empty()) {
    EXPECT_TRUE(ceilings.empty());
    return;
  }
  std::vector<std::string> names = VectorIsas();
  for (const char* level : {"L1", "L2", "memory"}) names.emplace_back(level);
  ASSERT_EQ(ceilings.size(), 2 * names.size());
  for (size_t i = 0; i < ceilings.size(); ++i) {
    EXPECT_EQ(ceilings[i].name, names[i % names.size()]);
    EXPECT_EQ(ceilings[i].threads, i < names.size() ? 1 : 2);
    const bool arithmetic = i % names.size() < VectorIsas().size();
    EXPECT_EQ(ceilings[i].flops_per_s > 0, arithmetic) << ceilings[i].name;
    EXPECT_EQ(ceilings[i].bytes_per_s > 0, !arithmetic) << ceilings[i].name;
  }
}

}  // namespace
}  // namespace tench::ceilings_test
