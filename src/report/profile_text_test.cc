// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace tench::profile_text_test {
namespace {

TEST(ProfileTextTest, ShowsTheDearestFirstPerStepAndSumsUpTheSmall) {
  const std::vector<ProfileRow> rows = {
      {"relu1", "forward", "eltwise", 2, 100, 0, 64},
      {"conv1", "backward_weights", "jit:avx2", 2, 6'000'000, 600'000'000, 4 << 20},
      {"conv1", "forward", "jit:avx2", 2, 2'000'000, 400'000'000, 2 << 20},
      {"fc", "update", "sgd", 2, 200, 0, 64},
  };
  EXPECT_EQ(ProfileText(rows),
            "Kernels of one step, mean over 2 timed steps:\n"
            " share    time  GFLOP/s   memory  GB/s  layer     direction         kernel\n"
            "──────  ──────  ───────  ───────  ────  ────────  ────────────────  ────────\n"
            "75.0 %    3 ms    100.0  2.0 MiB   0.7  conv1     backward_weights  jit:avx2\n"
            "25.0 %    1 ms    200.0  1.0 MiB   1.0  conv1     forward           jit:avx2\n"
            " 0.0 %  150 ns              64 B   0.4  (2 more)\n");
}

TEST(ProfileTextTest, RatesOfWinogradKernelsAreEffective) {
  const std::vector<ProfileRow> rows = {
      {"conv1", "forward", "winograd:avx2", 2, 2'000'000, 400'000'000, 2 << 20}};
  EXPECT_NE(ProfileText(rows).find(" 200.0 effective  1.0 MiB "), std::string::npos)
      << ProfileText(rows);
}

TEST(ProfileTextTest, AnEmptyProfileSaysSo) {
  EXPECT_EQ(ProfileText({}), "The profile is empty.\n");
}

}  // namespace
}  // namespace tench::profile_text_test
