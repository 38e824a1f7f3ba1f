// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"

namespace tench::cpu_limit_test {
namespace {

const std::filesystem::path kProbe =
    std::filesystem::path(TENCH_BIN_DIR).parent_path() / "tests/tench_cpu_limit_probe";

// The instruction sets that the probe may use under the limit `isa`, narrowest first.
std::vector<std::string> Usable(const std::string& isa) {
  FILE* pipe = popen(("TENCH_ISA=" + isa + " " + kProbe.string()).c_str(), "r");
  std::string output;
  char buffer[256];
  while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
  EXPECT_EQ(pclose(pipe), 0);
  std::vector<std::string> lines = Split(output, '\n');
  lines.pop_back();
  return lines;
}

TEST(CpuLimitTest, ClonesBeyondTheLimitAreNotUsable) {
  if (!std::filesystem::exists(kProbe))
    GTEST_SKIP() << "the limit is part of x86-64 builds without sanitizers";
  const std::vector<std::string> all = Usable("");
  for (const std::string limit : {"sse41", "avx", "avx2", "avx512"}) {
    std::vector<std::string> within;
    for (const std::string& isa : all) {
      within.push_back(isa);
      if (isa == limit) break;
    }
    EXPECT_EQ(Usable(limit), within) << limit;
  }
  EXPECT_EQ(Usable("widest"), all);
}

}  // namespace
}  // namespace tench::cpu_limit_test
