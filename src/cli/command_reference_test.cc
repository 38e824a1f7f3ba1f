// SPDX-License-Identifier: Apache-2.0
#include "cli/command_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/program.h"
#include "report/text_table.h"

namespace tench::command_reference_test {
namespace {

using testing::HasSubstr;

ProgramHelp Whole() {
  CLI::App root;
  AddCommands(root, "tench 1.2.3");
  return DescribeProgram(root);
}

TEST(CommandReferenceTest, TheDocumentIsUpToDate) {
  const Result<std::string> document =
      ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "docs" / "commands.md");
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(RenderReference(Whole()), *document)
      << "a help text changed: tench man --markdown > docs/commands.md";
}

TEST(CommandReferenceTest, EveryFlagOfEveryCommandIsNamed) {
  const ProgramHelp help = Whole();
  const std::string text = RenderReference(help);
  for (const CommandHelp& command : help.commands) {
    EXPECT_THAT(text, HasSubstr("\n## " + command.name + "\n"));
    for (const OptionHelp& option : command.options) {
      if (option.names.back() == "--help") continue;
      EXPECT_THAT(text, HasSubstr(option.names.back()));
    }
  }
}

TEST(CommandReferenceTest, NoLineExceeds100ColumnsExceptExamples) {
  bool example = false;
  for (const std::string& line : Split(RenderReference(Whole()), '\n')) {
    if (line.starts_with("```")) example = !example;
    EXPECT_TRUE(example || TextWidth(line) <= 100) << line;
  }
}

}  // namespace
}  // namespace tench::command_reference_test
