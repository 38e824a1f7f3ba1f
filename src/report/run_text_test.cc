// SPDX-License-Identifier: Apache-2.0
#include "report/run_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "record/run_flag.h"
#include "report/test_ranking.h"
#include "report/text_table.h"

namespace tench::run_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord OkRun() {
  RunRecord run = TimedRun("native", 6.4e6);
  run.flags = {kFlagNegativeLoss};
  run.reproducer = "tench run --worker native --network lenet --data mnist --threads 2 --steps 100";
  return run;
}

TEST(RunTextTest, AnOkRunHasItsCommandInDetailAndAFailedOneAlways) {
  RunRecord run = OkRun();
  EXPECT_THAT(RunText(run, false), Not(HasSubstr(run.reproducer)));
  EXPECT_THAT(RunText(run, true), HasSubstr(run.reproducer));
  run.outcome = Outcome::kTimeout;
  EXPECT_THAT(RunText(run, false), HasSubstr(run.reproducer));
}

TEST(RunTextTest, LinesFitTheTerminalExceptTheCommand) {
  const RunRecord run = OkRun();
  const std::string text = RunText(run, true, 60);
  EXPECT_THAT(text, HasSubstr(run.reproducer));
  EXPECT_THAT(text, HasSubstr("negative;\n                   rounding"))
      << "continued in the column of the values";
  for (const std::string& line : Split(text, '\n')) {
    if (line.find(run.reproducer) == std::string::npos) {
      EXPECT_LE(TextWidth(line), 60u) << line;
    }
  }
  EXPECT_EQ(RunText(run, false, 0), RunText(run, false));
}

}  // namespace
}  // namespace tench::run_text_test
