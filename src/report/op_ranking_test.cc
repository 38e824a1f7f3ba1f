// SPDX-License-Identifier: Apache-2.0
#include "report/op_ranking.h"

#include <gtest/gtest.h>

namespace tench::op_ranking_test {
namespace {

CensusRow Row(const std::string& layer, const std::string& direction,
              const std::string& implementation, int64_t time_ns) {
  CensusRow row;
  row.layer = layer;
  row.direction = direction;
  row.implementation = implementation;
  row.time_ns = time_ns;
  row.calls = 10;
  return row;
}

Census Of(std::vector<CensusRow> rows) { return {"profile", 10, std::move(rows)}; }

std::vector<OpRuns> TwoWorkers() {
  OpRuns slow{"torch", "2.0", "default", "hot", "tench run a", {}, ""};
  slow.censuses = {
      Of({Row("op", "forward", "mkldnn", 40'000), Row("op", "backward", "bwd", 90'000),
          Row("loss", "forward", "sum", 999'000)}),
      Of({Row("op", "forward", "mkldnn", 20'000), Row("op", "backward", "bwd", 70'000)}),
      Of({Row("op", "forward", "mkldnn", 30'000), Row("op", "backward", "bwd", 80'000)})};
  OpRuns fast{"native", "1.0", "winograd", "hot", "tench run b", {}, ""};
  fast.censuses = {
      Of({Row("op", "forward", "reorder", 2'000), Row("op", "forward", "wino", 8'000),
          Row("op", "backward_data", "d", 10'000), Row("op", "backward_weights", "w", 30'000)})};
  OpRuns failed{"caffe", "", "default", "hot", "", {}, "this worker has no profile"};
  return {slow, fast, failed};
}

TEST(OpRankingTest, TheMedianOverRoundsPerStepRanks) {
  const auto rankings = RankOps(TwoWorkers(), "op", 6'000, 12'000);
  ASSERT_EQ(rankings.size(), 2u);
  const OpRanking& forward = rankings[0];
  EXPECT_EQ(forward.direction, "forward");
  ASSERT_EQ(forward.times.size(), 2u);
  EXPECT_EQ(forward.times[0].implementation, "wino");
  EXPECT_DOUBLE_EQ(forward.times[0].time_ns, 1'000);
  EXPECT_DOUBLE_EQ(forward.times[0].flops_per_s, 6e9);
  EXPECT_DOUBLE_EQ(forward.times[1].time_ns, 3'000);
  const OpRanking& backward = rankings[1];
  EXPECT_DOUBLE_EQ(backward.times[0].time_ns, 4'000) << "both gradients";
  EXPECT_DOUBLE_EQ(backward.times[1].time_ns, 8'000);
}

TEST(OpRankingTest, TheTextHasEveryRowAndEveryFailure) {
  const auto runs = TwoWorkers();
  const std::string text = RenderOps("conv ic3", runs, RankOps(runs, "op", 6'000, 12'000), 120);
  EXPECT_NE(text.find("forward, hot caches"), std::string::npos) << text;
  EXPECT_NE(text.find("3.00"), std::string::npos) << text;
  EXPECT_NE(text.find("  caffe, default, hot caches: this worker has no profile\n"),
            std::string::npos)
      << text;
  const Json json = OpsToJson("conv ic3", runs, RankOps(runs, "op", 6'000, 12'000));
  EXPECT_EQ(json["rankings"][0]["rows"][0]["worker"], "native");
  EXPECT_EQ(json["rankings"][0]["rows"][1]["rounds"], 3);
  EXPECT_EQ(json["failed"][0]["worker"], "caffe");
}

TEST(OpRankingTest, CacheStatesAreRankedApart) {
  auto runs = TwoWorkers();
  runs[0].cache = "cold";
  const auto rankings = RankOps(runs, "op", 6'000, 12'000);
  ASSERT_EQ(rankings.size(), 4u);
  EXPECT_EQ(rankings[0].cache, "cold");
  EXPECT_EQ(rankings[0].times.size(), 1u);
}

TEST(OpRankingTest, WithoutMeasurementsThereIsNoRanking) {
  EXPECT_TRUE(RankOps({TwoWorkers()[2]}, "op", 1, 1).empty());
}

}  // namespace
}  // namespace tench::op_ranking_test
