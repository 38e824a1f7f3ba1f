// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_flags.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"

namespace tench::trace_flags_test {
namespace {

Result<std::optional<TraceRequest>> RequestOf(std::vector<std::string> words,
                                              const Budget& budget) {
  CLI::App app;
  TraceFlags flags;
  flags.AddTo(app);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return flags.Request(budget);
}

std::string ErrorOf(std::vector<std::string> words) {
  Budget budget;
  budget.fixed_steps = 5;
  const auto request = RequestOf(std::move(words), budget);
  return request ? "" : request.error().message;
}

TEST(TraceFlagsTest, AStepOrARangeIsARequest) {
  Budget budget;
  budget.fixed_steps = 5;
  EXPECT_FALSE(RequestOf({}, budget)->has_value());
  const auto usual = RequestOf({"--trace", "x.json.gz"}, budget);
  ASSERT_TRUE(usual && *usual);
  EXPECT_EQ((*usual)->first, 1);
  EXPECT_EQ((*usual)->last, 3);
  const auto one = RequestOf({"--trace", "x.json", "--trace-steps", "5"}, budget);
  ASSERT_TRUE(one && *one) << one.error().message;
  EXPECT_EQ((*one)->first, 5);
  EXPECT_EQ((*one)->last, 5);
}

TEST(TraceFlagsTest, BadInputIsRefusedBeforeTheRun) {
  EXPECT_EQ(ErrorOf({"--trace", "x.txt"}), "--trace: 'x.txt' must end in .json or .json.gz");
  EXPECT_EQ(ErrorOf({"--trace-steps", "2"}), "--trace-steps needs --trace FILE");
  for (const std::string bad : {"0", "3-2", "-1", "a", "1-", "2000", "1-2-3"})
    EXPECT_NE(ErrorOf({"--trace=x.json", "--trace-steps=" + bad}).find("is not a step"),
              std::string::npos)
        << bad;
  EXPECT_EQ(ErrorOf({"--trace", "x.json", "--trace-steps", "4-6"}),
            "--trace-steps: step 6 may not be made; the run makes 5 timed steps");
  EXPECT_EQ(ErrorOf({"--trace", "/nonexistent/x.json"}),
            "--trace: the folder /nonexistent does not exist");
}

}  // namespace
}  // namespace tench::trace_flags_test
