// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/test_ranking.h"
#include "report/text_table.h"

namespace tench::terminal_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(TerminalTest, ShowsTheRankingAndThenEveryFailure) {
  EXPECT_EQ(
      RenderText(SmallRanking(), {}),
      R"(study 1: quick on pond, begun 2026-01-02T03:04:05Z, 12 cells × 5 rounds planned, only batch=1, rules: 4, pairing: turns

lenet on mnist, batch 64, train
on the clock: train: training forward, backward and update; one resident batch
no winner: 0 paired rounds; a verdict needs 5
  #  worker                 time/image  × best  95 %  verdict    images/s  time/step  GFLOP/s  peak memory  before build  loss at step 103  median/image  steps  window  rounds  outcome  flags
  ─  ─────────────────────  ──────────  ──────  ────  ─────────  ────────  ─────────  ───────  ───────────  ────────────  ────────────────  ────────────  ─────  ──────  ──────  ───────  ──────────
  1  native 1.0+1a2b3c4         100 µs    1.00                      10000     6.4 ms    137.6      5.0 MiB       3.0 MiB             0.125        100 µs    100   1.1 s       2  ok 2/3   unverified
  2  reference 1.0+1a2b3c4       10 ms  100.00        ambiguous       100     640 ms    1.376      5.0 MiB       3.0 MiB             0.125         10 ms    100   1.1 s       1  ok

2 cells with failed runs
  native 1.0+1a2b3c4, lenet on mnist, batch 64, train
      timeout, 1 of 3 runs: no result after 10 s
      tench run --worker native --network lenet --data mnist --batch 64
  torch, lenet on mnist, batch 64, train
      unsupported, 1 of 1 run: not installed: pip install "torch" <2>
      tench run --worker torch --network lenet --data mnist --batch 64
)");
}

TEST(TerminalTest, ByAnAxisShowsOneRowPerValue) {
  RankingBuilder builder(kAxisBatch);
  for (const int64_t batch : {16, 8})
    builder.Add(TimedRun("native", 1e6 * static_cast<double>(batch) + 4e6, batch));
  EXPECT_EQ(RenderText(std::move(builder).Finish(), {}),
            R"(native 1.0+1a2b3c4: lenet on mnist, train
on the clock: train: training forward, backward and update; one resident batch
  batch  time/image  × best  95 %  verdict    images/s  time/step  GFLOP/s  peak memory  before build  loss at step 103  median/image  steps  window  rounds  outcome  flags
  ─────  ──────────  ──────  ────  ─────────  ────────  ─────────  ───────  ───────────  ────────────  ────────────────  ────────────  ─────  ──────  ──────  ───────  ─────
  8          1.5 ms    1.20        ambiguous     666.7      12 ms    73.38      5.0 MiB       3.0 MiB             0.125        1.5 ms    100   1.1 s       1  ok
  16        1.25 ms    1.00                        800      20 ms    44.03      5.0 MiB       3.0 MiB             0.125       1.25 ms    100   1.1 s       1  ok
)");
}

TEST(TerminalTest, ShowsTheParityErrorAndLabelsEffectiveFlops) {
  Ranking ranking = SmallRanking();
  EXPECT_THAT(RenderText(ranking, {}),
              AllOf(Not(HasSubstr("parity")), Not(HasSubstr("effective"))));
  RankRow& native = ranking.groups[0].rows[0];
  native.parity_error = 0.0581;
  native.flops_effective = true;
  EXPECT_THAT(RenderText(ranking, {}), HasSubstr(R"(
  #  worker                 time/image  × best  95 %  verdict    images/s  time/step          GFLOP/s  parity  peak memory  before build  loss at step 103  median/image  steps  window  rounds  outcome  flags
  ─  ─────────────────────  ──────────  ──────  ────  ─────────  ────────  ─────────  ───────────────  ──────  ───────────  ────────────  ────────────────  ────────────  ─────  ──────  ──────  ───────  ──────────
  1  native 1.0+1a2b3c4         100 µs    1.00                      10000     6.4 ms  137.6 effective   0.058      5.0 MiB       3.0 MiB             0.125        100 µs    100   1.1 s       2  ok 2/3   unverified
  2  reference 1.0+1a2b3c4       10 ms  100.00        ambiguous       100     640 ms            1.376              5.0 MiB       3.0 MiB             0.125         10 ms    100   1.1 s       1  ok

parity: the largest difference from the reference over its tolerance; at most 1 is verified
effective: arithmetic of the network's definition, of which a Winograd convolution executes less
)"));
  EXPECT_THAT(RenderText(ranking, {.width = 85, .colour = false}),
              AllOf(Not(HasSubstr("parity:")), Not(HasSubstr("effective"))))
      << "a column that is not shown needs no explanation";
}

TEST(TerminalTest, ANarrowTerminalLosesTheLessImportantColumnsFirst) {
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 93, .colour = false}), HasSubstr(R"(
  worker                 time/image  × best  95 %  verdict    images/s  flags
  ─────────────────────  ──────────  ──────  ────  ─────────  ────────  ──────────
  native 1.0+1a2b3c4         100 µs    1.00                      10000  unverified
  reference 1.0+1a2b3c4       10 ms  100.00        ambiguous       100
)"));
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 48, .colour = false}), HasSubstr(R"(
  worker                 time/image  × best
  ─────────────────────  ──────────  ──────
  native 1.0+1a2b3c4         100 µs    1.00
  reference 1.0+1a2b3c4       10 ms  100.00
)"));
}

TEST(TerminalTest, OmittedColumnsAreNamedOnceAndLongLinesAreBroken) {
  const std::string text = RenderText(SmallRanking(), {.width = 80, .colour = false});
  EXPECT_THAT(text, HasSubstr("\nomitted: "));
  EXPECT_EQ(text.find("omitted: "), text.rfind("omitted: "));
  EXPECT_THAT(text, HasSubstr("(--wide shows all)\n"));
  for (const std::string& line : Split(text, '\n')) {
    EXPECT_TRUE(line.starts_with("      tench run") || TextWidth(line) <= 80) << line;
  }
  EXPECT_THAT(RenderText(SmallRanking(), {}), Not(HasSubstr("omitted")));
}

TEST(TerminalTest, ANarrowTableStillTellsStepsAndRounds) {
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 200, .colour = false}),
              Not(HasSubstr("steps ×")));
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 80, .colour = false}),
              HasSubstr("100 steps × 1–2 rounds"));
}

TEST(TerminalTest, MarkdownHasHeadingsTablesAndCommandsAsCode) {
  const std::string text =
      RenderText(SmallRanking(), {.width = 0, .colour = false, .markdown = true});
  EXPECT_THAT(text, HasSubstr("### lenet on mnist, batch 64, train\n\n"));
  EXPECT_THAT(text, HasSubstr("\n\n| # | worker | time/image |"));
  EXPECT_THAT(text, HasSubstr("\n| 1 | native 1.0+1a2b3c4 | 100 µs |"));
  EXPECT_THAT(text, HasSubstr("### 2 cells with failed runs\n\n- native 1.0+1a2b3c4,"));
  EXPECT_THAT(text, HasSubstr("  - `tench run --worker torch "));
}

TEST(TerminalTest, NoTableIsWiderThanTheTerminal) {
  RankingBuilder builder;
  builder.Add(TimedRun("a-framework-with-a-rather-long-name", 10e6));
  builder.Add(TimedRun("b", 10e6));
  const Ranking ranking = std::move(builder).Finish();
  for (size_t width = 30; width < 150; ++width) {
    const std::string text = RenderText(ranking, {.width = width, .colour = false});
    const std::vector<std::string> lines = Split(text, '\n');
    for (size_t i = 3; i < lines.size(); ++i) EXPECT_LE(TextWidth(lines[i]), width) << lines[i];
    EXPECT_THAT(text, HasSubstr("156 µs"));
  }
}

TEST(TerminalTest, ColoursOnlyWhenAsked) {
  EXPECT_THAT(RenderText(SmallRanking(), {}), Not(HasSubstr("\033")));
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 0, .colour = true}),
              HasSubstr("\033[1mlenet on mnist, batch 64, train\033[0m\n"));
}

TEST(TerminalTest, ControlCharactersOfAWorkerNeverReachTheTerminal) {
  RankingBuilder builder;
  builder.Add(FailedRun("bad\033[2J", Outcome::kCrashed,
                        "one\ntwo\033]0;title\x07 \xc2\x9b"
                        "31m \u00e9"));
  const std::string text = RenderText(std::move(builder).Finish(), {});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\033")), Not(HasSubstr("\x07")),
                          Not(HasSubstr("\xc2\x9b")), HasSubstr("one two ]0;title   31m é")));
}

TEST(TerminalTest, TwoBuildsOfOneVersionAreTwoRowsWithTheirBuilds) {
  RunRecord rebuilt = TimedRun("native", 5e6);
  rebuilt.build = "ffff00001111aaaa";
  RankingBuilder builder;
  builder.Add(TimedRun("native", 10e6));
  builder.Add(rebuilt);
  EXPECT_THAT(RenderText(std::move(builder).Finish(), {}),
              AllOf(HasSubstr("1  native 1.0+ffff000 "), HasSubstr("2  native 1.0+1a2b3c4 ")));
}

TEST(TerminalTest, AVersionInTheWorkersNameIsShownOnceWithItsBuild) {
  RunRecord run = TimedRun("tensorflow@2.15", 10e6);
  run.worker_version = "2.15";
  RankingBuilder builder;
  builder.Add(run);
  EXPECT_THAT(RenderText(std::move(builder).Finish(), {}),
              HasSubstr("1  tensorflow@2.15+1a2b3c4 "));
}

TEST(TerminalTest, RulesAreNamedInTheRowsWhereTheyDifferAndSolversThatAreNotUsual) {
  RunRecord old = TimedRun("native", 10e6), nesterov = TimedRun("native", 11e6);
  old.rules = kUnnumberedRules;
  old.build = "";
  nesterov.solver = "nesterov";
  RankingBuilder builder;
  builder.Add(old);
  builder.Add(nesterov);
  EXPECT_THAT(RenderText(std::move(builder).Finish(), {}),
              AllOf(HasSubstr("native 1.0 (rules 1) "),
                    HasSubstr("native 1.0+1a2b3c4 solver=nesterov (rules 4) ")));
}

TEST(TerminalTest, AnEmptyStoreSaysSo) { EXPECT_EQ(RenderText(Ranking{}, {}), "no runs\n"); }

}  // namespace
}  // namespace tench::terminal_test
