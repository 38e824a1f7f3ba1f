// SPDX-License-Identifier: Apache-2.0
#include "run/session/isa_limit.h"

#include <gtest/gtest.h>

#include "axis/axis.h"

namespace tench::isa_limit_test {
namespace {

CpuFacts CpuWith(std::vector<std::string> flags) {
  CpuFacts cpu;
  cpu.architecture = "x86_64";
  cpu.flags = std::move(flags);
  return cpu;
}

TEST(IsaLimitTest, EveryValueOfTheAxisButTheDefaultIsALevel) {
  int rank = 0;
  for (const std::string& isa : Axes()[kAxisIsa].choices) {
    EXPECT_EQ(IsaRank(isa), rank++) << isa;
    EXPECT_EQ(IsaVariables(isa).empty(), isa == kWidestIsa) << isa;
  }
  EXPECT_EQ(rank, 5);
}

TEST(IsaLimitTest, EveryLibraryGetsItsOwnNameOfALevel) {
  const auto variables = IsaVariables("avx2");
  EXPECT_EQ(variables.at("ONEDNN_MAX_CPU_ISA"), "AVX2");
  EXPECT_EQ(variables.at("ATEN_CPU_CAPABILITY"), "avx2");
  EXPECT_EQ(variables.at("MKL_ENABLE_INSTRUCTIONS"), "AVX2");
  EXPECT_EQ(variables.at("OPENBLAS_CORETYPE"), "Haswell");
  EXPECT_EQ(variables.at("TENCH_ISA"), "avx2");
  EXPECT_EQ(IsaVariables("avx").at("ATEN_CPU_CAPABILITY"), "default");
}

TEST(IsaLimitTest, AnIsaThatTheCpuLacksIsOneLine) {
  const CpuFacts cpu = CpuWith({"avx", "avx2", "fma", "sse4_2"});
  EXPECT_TRUE(CheckIsa("avx2", cpu));
  EXPECT_TRUE(CheckIsa("sse41", cpu));
  EXPECT_EQ(CheckIsa("avx512", cpu).error().message,
            "isa: this CPU has no avx512 (its widest instruction set is avx2)");
  CpuFacts arm;
  arm.architecture = "aarch64";
  arm.flags = {"asimd", "sve"};
  EXPECT_EQ(CheckIsa("sse41", arm).error().message,
            "isa: this CPU has no sse41 (its architecture is aarch64)");
}

TEST(IsaLimitTest, Avx2NeedsFusedMultiplyAdd) {
  EXPECT_EQ(WidestIsaOf(CpuWith({"avx", "avx2", "sse4_2"})), "avx");
  EXPECT_EQ(WidestIsaOf(CpuWith({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma"})),
            "avx512");
  EXPECT_EQ(WidestIsaOf(CpuWith({"sse4_2"})), "sse41");
}

}  // namespace
}  // namespace tench::isa_limit_test
