// SPDX-License-Identifier: Apache-2.0
#include "cli/command_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/program.h"

namespace tench::command_help_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const CommandHelp& Find(const ProgramHelp& help, const std::string& name) {
  return *std::find_if(help.commands.begin(), help.commands.end(),
                       [&](const CommandHelp& command) { return command.name == name; });
}
const OptionHelp& Find(const std::vector<OptionHelp>& options, const std::string& name) {
  return *std::find_if(options.begin(), options.end(), [&](const OptionHelp& option) {
    return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
  });
}

class DescribeProgramTest : public testing::Test {
 protected:
  CLI::App root_;
  std::vector<Command> commands_ = AddCommands(root_, "tench 1.2.3");
  ProgramHelp help_ = DescribeProgram(root_);
};

TEST_F(DescribeProgramTest, HasEveryCommandAndVisibleOption) {
  EXPECT_EQ(help_.version, "tench 1.2.3");
  ASSERT_EQ(help_.commands.size(), commands_.size());
  for (size_t i = 0; i < commands_.size(); ++i) {
    EXPECT_EQ(help_.commands[i].name, commands_[i].app->get_name());
    EXPECT_EQ(help_.commands[i].options.size() + help_.commands[i].arguments.size(),
              commands_[i].app->get_options().size());
  }
}

TEST_F(DescribeProgramTest, TellsFlagsFromOptionsAndArguments) {
  const CommandHelp& report = Find(help_, "report");
  EXPECT_THAT(Find(report.options, "-o").names, ElementsAre("-o", "--output"));
  EXPECT_TRUE(Find(report.options, "-o").takes_value);
  EXPECT_FALSE(Find(report.options, "--dark").takes_value);
  EXPECT_TRUE(Find(report.options, "--only").repeated);
  EXPECT_FALSE(Find(report.options, "--title").repeated);
  EXPECT_TRUE(Find(Find(help_, "sweep").arguments, "suite").required);
  EXPECT_FALSE(Find(Find(help_, "list").arguments, "topic").required);
}

TEST_F(DescribeProgramTest, KnowsHowValuesAreCompleted) {
  const CommandHelp& run = Find(help_, "run");
  EXPECT_THAT(Find(run.options, "--precision").value.words, ElementsAre("f32", "bf16", "f16"));
  EXPECT_EQ(Find(run.options, "--worker").value.topic, "workers");
  EXPECT_TRUE(Find(run.options, "--worker").value.listed);
  EXPECT_FALSE(Find(run.options, "--worker").value.file);
  EXPECT_TRUE(Find(run.options, "--db").value.file);
  EXPECT_THAT(Find(run.options, "--batch").value.words, IsEmpty());
  EXPECT_THAT(Find(Find(help_, "compare").options, "--of").value.words,
              ElementsAre("shortest", "median"));
}

TEST_F(DescribeProgramTest, AnInheritedFooterIsTheProgramsAlone) {
  EXPECT_NE(help_.footer, "");
  EXPECT_EQ(Find(help_, "list").footer, "");
  EXPECT_NE(Find(help_, "run").footer, "");
}

}  // namespace
}  // namespace tench::command_help_test
