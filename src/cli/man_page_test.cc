// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::man_page_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

ProgramHelp Small() {
  ProgramHelp help{"about it", "", "tench 1.2.3", {}, {}};
  CommandHelp command{"swim", ".starts with a dot", "in\\out\n'quoted'", {}, {}};
  OptionHelp depth;
  depth.names = {"-d", "--depth"};
  depth.about = "how deep";
  depth.group = "Water";
  depth.form = "low|high";
  depth.takes_value = depth.repeated = true;
  command.options.push_back(depth);
  OptionHelp pond;
  pond.names = {"pond"};
  pond.about = "where";
  command.arguments.push_back(pond);
  pond.names = {"fish"};
  pond.required = true;
  command.arguments.push_back(pond);
  help.commands.push_back(command);
  return help;
}

TEST(ManPageTest, HasTheSectionsOfAManualPageInOrder) {
  const std::string page = RenderManPage(Small());
  EXPECT_THAT(page, StartsWith(".TH TENCH 1 \"\" \"tench 1.2.3\" \"User Commands\"\n"));
  size_t at = 0;
  for (const char* section :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"}) {
    const size_t next = page.find(std::string(".SH ") + section + "\n");
    ASSERT_NE(next, std::string::npos) << section;
    EXPECT_GT(next, at) << section;
    at = next;
  }
}

TEST(ManPageTest, ShowsOptionsAndArgumentsOfACommand) {
  EXPECT_THAT(
      RenderManPage(Small()),
      AllOf(HasSubstr(".SS tench swim\n"
                      "\\fBtench swim\\fR [\\fIOPTIONS\\fR] [\\fIpond\\fR] \\fIfish\\fR\n"),
            HasSubstr(".PP\nWater:\n.TP\n"
                      "\\fB\\-d\\fR, \\fB\\-\\-depth\\fR \\fIlow|high\\fR ...\nhow deep\n")));
}

TEST(ManPageTest, EscapesWhatTroffWouldInterpret) {
  EXPECT_THAT(RenderManPage(Small()), AllOf(HasSubstr("\n\\&.starts with a dot\n"),
                                            HasSubstr(".nf\nin\\eout\n\\&'quoted'\n.fi\n")));
}

}  // namespace
}  // namespace tench::man_page_test
