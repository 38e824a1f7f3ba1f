// SPDX-License-Identifier: Apache-2.0
#include "cli/added_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::added_workers_test {
namespace {

using testing::ElementsAre;

TEST(AddedWorkersTest, JoinEveryBlockThatComparesWorkersOnce) {
  Suite suite = *ParseSuite("network: lenet\nworker: [native, torch]\n", "a.yaml");
  AddWorkers({"jax", "torch"}, suite);
  EXPECT_THAT(suite.blocks[0].axes[0].values, ElementsAre("native", "torch", "jax"));
  EXPECT_EQ(suite.blocks[0].axes[0].places.size(), 3u);
}

TEST(AddedWorkersTest, ABlockOfOneWorkerKeepsIt) {
  Suite suite = *ParseSuite("network: lenet\nworker: reference\n", "a.yaml");
  AddWorkers({"jax"}, suite);
  EXPECT_THAT(suite.blocks[0].axes[0].values, ElementsAre("reference"));
}

}  // namespace
}  // namespace tench::added_workers_test
