// SPDX-License-Identifier: Apache-2.0
#include "report/worker_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/terminal.h"
#include "report/test_ranking.h"

namespace tench::worker_limits_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

RunRecord RunOf(const std::string& worker, const std::string& hello) {
  RunRecord run = TimedRun(worker, 10e6);
  run.worker_json = hello;
  return run;
}

std::string TextOf(const std::vector<RunRecord>& runs) {
  RankingBuilder builder;
  for (const RunRecord& run : runs) builder.Add(run);
  return RenderText(std::move(builder).Finish(), {});
}

constexpr const char* kHello =
    R"({"type":"hello","worker":{"name":"torch","facts":{"cannot_use":"torch.compile"}}})";

TEST(WorkerLimitsTest, ReadsTheFactOfEachWorkerOnce) {
  WorkerLimits limits;
  limits.Add(RunOf("native", R"({"worker":{"facts":{"blas":"none"}}})"));
  limits.Add(RunOf("torch@2.15", kHello));
  limits.Add(RunOf("torch", kHello));
  EXPECT_THAT(limits.texts(), ElementsAre(Pair("torch", "torch.compile")));
}

TEST(WorkerLimitsTest, TextOfAnotherFormIsNoLimit) {
  WorkerLimits limits;
  for (const char* hello : {"cannot_use", R"({"cannot_use":1})", R"({"worker":"cannot_use"})",
                            R"({"worker":{"facts":{"cannot_use":7}}})"})
    limits.Add(RunOf("torch", hello));
  EXPECT_THAT(limits.texts(), IsEmpty());
}

TEST(WorkerLimitsTest, ARankingStatesThemBelowItsTables) {
  EXPECT_THAT(TextOf({RunOf("native", ""), RunOf("torch", kHello)}),
              HasSubstr("\ntorch cannot use torch.compile\n"));
  EXPECT_THAT(TextOf({RunOf("native", "")}), Not(HasSubstr("cannot use")));
}

}  // namespace
}  // namespace tench::worker_limits_test
