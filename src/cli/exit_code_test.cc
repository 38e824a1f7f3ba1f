// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/program_run.h"

namespace tench::exit_code_test {
namespace {

using testing::HasSubstr;

TEST(ExitCodeTest, TheDocumentAndTheManualPageHaveTheWholeTable) {
  const std::string document =
      *ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "docs" / "ci.md");
  const std::string manual = RunTench({"man"}).output;
  size_t rows = 0;
  for (const std::string& line : Split(document, '\n')) {
    if (line.starts_with("| ") && line.size() > 2 && isdigit(line[2]) != 0) ++rows;
  }
  EXPECT_EQ(rows, ExitCodes().size());
  for (const ExitCodeRow& row : ExitCodes()) {
    EXPECT_THAT(document, HasSubstr(fmt::format("| {} | {} |", row.code, row.meaning)));
    EXPECT_THAT(manual, HasSubstr(fmt::format(".B {}\n", row.code)));
  }
}

TEST(ExitCodeTest, BadGateFlagsAreOneLineBeforeAnyWork) {
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--fail-on", "slow"}, "--fail-on: unknown finding 'slow'"},
           {{"--junit", "/nonexistent/x.xml"}, "--junit: there is no folder /nonexistent"},
           {{"--junit", "/"}, "--junit: / is a folder"},
           {{"--baseline", "bacth=3"}, "--baseline: 'bacth=3': unknown axis 'bacth'"},
           {{"--margin", "x"}, "--margin"}}) {
    std::vector<std::string> whole = {"sweep", "quick"};
    whole.insert(whole.end(), arguments.begin(), arguments.end());
    const ProgramRun run = RunTench(whole);
    EXPECT_EQ(run.code, kExitBadInput);
    EXPECT_THAT(run.errors, HasSubstr(message));
    EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1);
  }
}

}  // namespace
}  // namespace tench::exit_code_test
