// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.h"

#include <gtest/gtest.h>

namespace tench::cpu_test {
namespace {

std::string IsaWith(std::vector<std::string> flags) {
  CpuFacts cpu;
  cpu.architecture = "x86_64";
  cpu.flags = std::move(flags);
  return IsaOf(cpu);
}

TEST(IsaTest, IsTheWidestThatTheFlagsAllow) {
  EXPECT_EQ(IsaWith({"avx", "avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma"}),
            "avx512");
  EXPECT_EQ(
      IsaWith({"amx_tile", "avx", "avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma"}),
      "avx512+amx");
  EXPECT_EQ(IsaWith({"avx", "avx2", "fma", "sse4_2"}), "avx2");
  EXPECT_EQ(IsaWith({"asimd", "sve", "sve2"}), "sve2");
  EXPECT_EQ(IsaWith({"asimd", "sve"}), "sve");
  EXPECT_EQ(IsaWith({"asimd"}), "asimd");
}

TEST(IsaTest, APartOfAnExtensionIsNotTheExtension) {
  EXPECT_EQ(IsaWith({"avx", "avx2", "avx512f", "fma"}), "avx2");
  EXPECT_EQ(IsaWith({"avx", "avx2"}), "avx");
  EXPECT_EQ(IsaWith({"sse4_2"}), "sse4_2");
}

TEST(IsaTest, WithoutKnownFlagsItIsTheArchitecture) { EXPECT_EQ(IsaWith({}), "x86_64"); }

TEST(IsaTest, ThisMachineHasOne) { EXPECT_NE(IsaOf(ReadCpu()), ""); }

}  // namespace
}  // namespace tench::cpu_test
