// SPDX-License-Identifier: Apache-2.0
#include "record/worker_version.h"

#include <gtest/gtest.h>

namespace tench::worker_version_test {
namespace {

TEST(WorkerVersionTest, ShowsTheFirstDigitsOfTheBuildBehindTheVersion) {
  EXPECT_EQ(ShownVersion("0.1.0", "1a2b3c4d5e6f7081"), "0.1.0+1a2b3c4");
  EXPECT_EQ(ShownVersion("2.1.0+cpu", "1a2b3c4d5e6f7081"), "2.1.0+cpu.1a2b3c4");
}

TEST(WorkerVersionTest, AnUnknownBuildLeavesTheVersionAsItIs) {
  EXPECT_EQ(ShownVersion("0.1.0", ""), "0.1.0");
  EXPECT_EQ(ShownVersion("", ""), "");
}

TEST(WorkerVersionTest, WordsInsteadOfAVersionHaveNoBuild) {
  EXPECT_EQ(ShownVersion("not found", "1a2b3c4d5e6f7081"), "not found");
}

TEST(WorkerVersionTest, ABuildWhoseVersionIsUnknownIsStillTold) {
  EXPECT_EQ(ShownVersion("", "1a2b3c4d5e6f7081"), "+1a2b3c4");
}

}  // namespace
}  // namespace tench::worker_version_test
