// SPDX-License-Identifier: Apache-2.0
#include "report/why_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "profile/test_profile.h"
#include "report/text_table.h"

namespace tench::why_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Why TestWhy() {
  Why why;
  why.title = "pond, batch 2, train, 2 threads";
  why.alignment = AlignProfiles(FusingSide(), PlainSide());
  why.a = {"1.0", "tench run --worker native", 7'900'000.0, 1.9, 2, 2};
  why.b = {"2.0", "tench run --worker torch", 14'700'000.0, 1.5, 2, 2};
  why.threads = 2;
  why.plain_difference_ns = Interval{6'500'000, 7'100'000};
  why.causes = LeadingCauses(why.alignment, 2);
  why.commands = {"tench show pond --layer conv2", ""};
  return why;
}

TEST(WhyTextTest, GroupsAndTheRemainderSumToTheStep) {
  const std::string text = RenderWhy(TestWhy(), 0);
  EXPECT_THAT(text, HasSubstr("pond, batch 2, train, 2 threads: one step takes 8 ms in native and "
                              "15 ms in torch (+7 ms, × 1.88), profiled\n"));
  EXPECT_THAT(text,
              HasSubstr("group                                   native    torch  difference\n"
                        "──────────────────────────────────────  ──────  ───────  ──────────\n"
                        "convolution                               6 ms    12 ms       +6 ms\n"
                        "dense                                   500 µs   500 µs       +0 ns\n"
                        "activation                                   -   500 µs     +500 µs\n"
                        "loss                                    250 µs   250 µs       +0 ns\n"
                        "update                                  200 µs   400 µs     +200 µs\n"
                        "layout conversion, copy                 250 µs   100 µs     -150 µs\n"
                        "remainder: framework gap, idle threads  800 µs  1.25 ms     +450 µs\n"
                        "step                                      8 ms    15 ms       +7 ms\n"));
}

TEST(WhyTextTest, SaysWhetherTheProfiledDifferenceIsThatOfUnprofiledRuns) {
  Why why = TestWhy();
  EXPECT_THAT(RenderWhy(why, 0),
              HasSubstr("Unprofiled, native takes 7.9 ms and torch 14.7 ms: +6.8 ms, 95 % interval "
                        "+6.5 ms to +7.1 ms. The profiled difference lies within it.\n"));
}

TEST(WhyTextTest, SaysSoIfItIsOutside) {
  Why why = TestWhy();
  why.plain_difference_ns = Interval{5'000'000, 6'000'000};
  EXPECT_THAT(RenderWhy(why, 0), HasSubstr("lies OUTSIDE of it"));
  why.plain_difference_ns = std::nullopt;
  EXPECT_THAT(RenderWhy(why, 0), HasSubstr("an interval needs at least two rounds"));
  why.a.plain_step_ns = std::nullopt;
  EXPECT_THAT(RenderWhy(why, 0), HasSubstr("Without unprofiled runs"));
}

TEST(WhyTextTest, LowCoverageAndOverlapAreSaid) {
  Why why = TestWhy();
  EXPECT_THAT(RenderWhy(why, 0), HasSubstr("Kernels of native cover 90.0 % of its step.\n"));
  why.alignment.a_step_ns = 10'000'000;
  EXPECT_THAT(RenderWhy(why, 0), HasSubstr("Kernels of native cover 72.0 % of its step, LESS than "
                                           "85 %"));
  why.alignment.a_step_ns = 6'000'000;
  EXPECT_THAT(RenderWhy(why, 0), HasSubstr("kernels overlap in time"));
}

TEST(WhyTextTest, CeilingsAreOneSentence) {
  Why why = TestWhy();
  EXPECT_THAT(RenderWhy(why, 0), Not(HasSubstr("Ceilings")));
  why.ceilings = {{"avx2", 2, 2.5e11, 0, false}, {"L1", 2, 0, 3e11, true}};
  EXPECT_THAT(RenderWhy(why, 0),
              HasSubstr("Ceilings with 2 threads: avx2 250 GFLOP/s, L1 300 GB/s. The machine was "
                        "busy while they were measured.\n"));
}

TEST(WhyTextTest, FitsATerminalExceptForCommands) {
  Why why = TestWhy();
  why.commands = {"", ""};
  for (const std::string& line : Split(RenderWhy(why, 80), '\n'))
    EXPECT_LE(TextWidth(line), 80u) << line;
  EXPECT_THAT(RenderWhy(TestWhy(), 80), HasSubstr("\n   tench show pond --layer conv2\n"));
}

TEST(WhyTextTest, JsonHasEveryRowAndItsSums) {
  const Why why = TestWhy();
  const Json json = WhyToJson(why);
  EXPECT_EQ(json["rows"].size(), why.alignment.rows.size());
  double difference =
      json["b"]["remainder_ns"].get<double>() - json["a"]["remainder_ns"].get<double>();
  for (const Json& row : json["rows"]) difference += row["difference_ns"].get<double>();
  EXPECT_NEAR(difference, json["difference_ns"].get<double>(), 1e-3);
  EXPECT_EQ(json["unprofiled_difference"]["holds_profiled_difference"], true);
  EXPECT_EQ(json["causes"][0]["command"], "tench show pond --layer conv2");
}

TEST(WhyTextTest, MarkdownListsCausesAndCommands) {
  const std::string text = RenderWhyMarkdown(TestWhy());
  EXPECT_THAT(text, HasSubstr("| layer | direction |"));
  EXPECT_THAT(text, HasSubstr("\n1. conv2 backward: torch takes 3 ms longer; "));
  EXPECT_THAT(text, HasSubstr("\n   `tench show pond --layer conv2`\n"));
  EXPECT_THAT(text, Not(HasSubstr("``")));
}

}  // namespace
}  // namespace tench::why_text_test
