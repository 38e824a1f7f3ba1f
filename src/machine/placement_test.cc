// SPDX-License-Identifier: Apache-2.0
#include "machine/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "machine/affinity.h"
#include "machine/fixture_folder.h"

namespace tench::placement_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two nodes of two cores with two CPUs each: cores {0,4} {1,5} on node 0, {2,6} {3,7} on node 1.
std::vector<CpuPlace> TwoNodes() {
  std::vector<CpuPlace> topology;
  for (int cpu = 0; cpu < 8; ++cpu) topology.push_back({cpu, cpu % 4 / 2, cpu % 4, cpu / 4});
  return topology;
}

std::vector<int> Placed(std::string_view placement, int64_t threads) {
  const Result<std::vector<int>> cpus =
      PlaceThreads(TwoNodes(), *ParsePlacement(placement), threads);
  EXPECT_TRUE(cpus.ok()) << placement;
  return cpus.ok() ? *cpus : std::vector<int>();
}

TEST(PlacementTest, FirstTakesTheLowestNumbers) {
  EXPECT_THAT(Placed("first", 3), ElementsAre(0, 1, 2));
}

TEST(PlacementTest, SpreadTakesTheNodesInTurnAndCoresBeforeSiblings) {
  EXPECT_THAT(Placed("spread", 2), ElementsAre(0, 2));
  EXPECT_THAT(Placed("spread", 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Placed("spread", 6), ElementsAre(0, 1, 2, 3, 4, 6));
}

TEST(PlacementTest, CompactFillsANodeBeforeTheNext) {
  EXPECT_THAT(Placed("compact", 2), ElementsAre(0, 1));
  EXPECT_THAT(Placed("compact", 4), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(Placed("compact", 6), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(PlacementTest, ANodeOffersOnlyItsOwnCpus) {
  EXPECT_THAT(Placed("node:1", 3), ElementsAre(2, 3, 6));
  EXPECT_EQ(PlaceableCpus(TwoNodes(), *ParsePlacement("node:1")), 4u);
  EXPECT_EQ(PlaceableCpus(TwoNodes(), *ParsePlacement("spread")), 8u);
  const auto many = PlaceThreads(TwoNodes(), *ParsePlacement("node:1"), 5);
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(many.error().message, HasSubstr("placement node:1 offers only 4 CPUs"));
  const auto none = PlaceThreads(TwoNodes(), *ParsePlacement("node:2"), 1);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("nodes: 0-1"));
  EXPECT_FALSE(PlaceThreads(TwoNodes(), *ParsePlacement("spread"), 9).ok());
}

TEST(PlacementTest, ReadsNodesAndSiblingsOfTheAllowedCpus) {
  FixtureFolder root;
  root.Write("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  root.Write("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  root.Write("sys/devices/system/node/has_cpu", "0-1\n");
  for (int cpu = 0; cpu < 8; ++cpu)
    root.Write(fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu),
               fmt::format("{},{}\n", cpu % 4, cpu % 4 + 4));
  EXPECT_EQ(ReadTopology({0, 1, 2, 3, 4, 5, 6, 7}, root.path()), TwoNodes());
  EXPECT_EQ(ReadTopology({6}, root.path()), (std::vector<CpuPlace>{{6, 1, 2, 1}}));
}

TEST(PlacementTest, AMachineWithoutTopologyHasOneNodeAndNoSiblings) {
  const FixtureFolder root;
  EXPECT_EQ(ReadTopology({0, 3}, root.path()), (std::vector<CpuPlace>{{0, 0, 0, 0}, {3, 0, 3, 0}}));
  const std::vector<int> own = AllowedCpus();
  EXPECT_EQ(ReadTopology(own).size(), own.size());
}

TEST(PlacementTest, TheStoredPlacementNamesCpusNodesAndSharedCores) {
  EXPECT_EQ(PlacementToJson(TwoNodes(), {0, 1, 2}),
            (Json{{"cpus", "0-2"}, {"nodes", "0-1"}, {"cores", 3}, {"smt", false}}));
  EXPECT_EQ(PlacementToJson(TwoNodes(), {2, 6}),
            (Json{{"cpus", "2,6"}, {"nodes", "1"}, {"cores", 1}, {"smt", true}}));
}

}  // namespace
}  // namespace tench::placement_test
