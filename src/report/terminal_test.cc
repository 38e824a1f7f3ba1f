// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/test_ranking.h"
#include "report/text_table.h"

namespace tench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(TerminalTest, ShowsTheRankingAndThenEveryFailure) {
  EXPECT_EQ(
      RenderText(SmallRanking(), {}),
      R"(study 1: quick on pond, begun 2026-01-02T03:04:05Z, 12 cells × 5 rounds planned, only batch=1

lenet on mnist, batch 64, train
on the clock: train: training forward, backward and update; one resident batch
  #  worker         time/image    95 %  × best  verdict    images/s  time/step  GFLOP/s  peak memory   loss  outcome  flags
  ─  ─────────────  ──────────  ──────  ──────  ─────────  ────────  ─────────  ───────  ───────────  ─────  ───────  ──────────
  1  native 1.0         100 µs  ±0.0 %    1.00                10000     6.4 ms    137.6      6.0 MiB  0.125  ok 2/3   unverified
  2  reference 1.0       10 ms  ±1.0 %  100.00  ambiguous       100     640 ms    1.376      6.0 MiB  0.125  ok

2 cells with failed runs
  native 1.0, lenet on mnist, batch 64, train
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
  EXPECT_EQ(RenderText(std::move(builder).Finish(), {}), R"(native 1.0: lenet on mnist, train
on the clock: train: training forward, backward and update; one resident batch
  batch  time/image    95 %  × best  verdict    images/s  time/step  GFLOP/s  peak memory   loss  outcome  flags
  ─────  ──────────  ──────  ──────  ─────────  ────────  ─────────  ───────  ───────────  ─────  ───────  ─────
  8          1.5 ms  ±1.0 %    1.20  ambiguous     666.7      12 ms    73.38      6.0 MiB  0.125  ok
  16        1.25 ms  ±1.0 %    1.00                  800      20 ms    44.03      6.0 MiB  0.125  ok
)");
}

TEST(TerminalTest, ANarrowTerminalLosesTheLessImportantColumnsFirst) {
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 85, .colour = false}), HasSubstr(R"(
  worker         time/image    95 %  × best  verdict    images/s  outcome  flags
  ─────────────  ──────────  ──────  ──────  ─────────  ────────  ───────  ──────────
  native 1.0         100 µs  ±0.0 %    1.00                10000  ok 2/3   unverified
  reference 1.0       10 ms  ±1.0 %  100.00  ambiguous       100  ok
)"));
  EXPECT_THAT(RenderText(SmallRanking(), {.width = 40, .colour = false}), HasSubstr(R"(
  worker         time/image  × best
  ─────────────  ──────────  ──────
  native 1.0         100 µs    1.00
  reference 1.0       10 ms  100.00
)"));
}

TEST(TerminalTest, NoTableIsWiderThanTheTerminal) {
  RankingBuilder builder;
  builder.Add(TimedRun("a-framework-with-a-rather-long-name", 10e6));
  builder.Add(TimedRun("b", 10e6));
  const Ranking ranking = std::move(builder).Finish();
  for (size_t width = 30; width < 150; ++width) {
    const std::string text = RenderText(ranking, {.width = width, .colour = false});
    const std::vector<std::string> lines = Split(text, '\n');
    for (size_t i = 2; i < lines.size(); ++i) EXPECT_LE(TextWidth(lines[i]), width) << lines[i];
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

TEST(TerminalTest, AnEmptyStoreSaysSo) { EXPECT_EQ(RenderText(Ranking{}, {}), "no runs\n"); }

}  // namespace
}  // namespace tench
