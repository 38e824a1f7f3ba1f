// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/program_run.h"
#include "store/store.h"
#include "store/test_run.h"

namespace tench::program_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(VersionTextTest, ShowsTheRevisionOnlyWhereThereIsOne) {
  EXPECT_EQ(VersionText("0.1.0", "0123456789ab"), "tench 0.1.0 (git 0123456789ab)");
  EXPECT_EQ(VersionText("0.1.0", "0123456789ab, dirty"), "tench 0.1.0 (git 0123456789ab, dirty)");
  EXPECT_EQ(VersionText("0.1.0", ""), "tench 0.1.0");
}

TEST(FailProgramTest, PrintsOneLineAndReturnsTwo) {
  testing::internal::CaptureStderr();
  const int code = FailProgram("no such thing");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tench: no such thing\n");
  EXPECT_EQ(code, 2);
}

TEST(AddCommandsTest, EveryCommandHasAnAboutTextAndCanRun) {
  CLI::App root;
  const std::vector<Command> commands = AddCommands(root, "tench 1.2.3");
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.push_back(command.app->get_name());
    EXPECT_NE(command.app->get_description(), "") << names.back();
    EXPECT_TRUE(command.run) << names.back();
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "list",     "show",    "run",    "sweep",   "train",     "predict", "verify",
                       "results",  "runs",    "steps",  "samples", "compare",   "why",     "census",
                       "bench-op", "history", "report", "serve",   "bundle",    "export",  "import",
                       "merge",    "data",    "doctor", "man",     "completion"}));
  EXPECT_EQ(root.get_name(), "tench");
}

TEST(RunProgramTest, WithoutACommandPrintsTheHelp) {
  const ProgramRun run = RunTench({});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, HasSubstr("Subcommands:"));
  EXPECT_EQ(run.output, RunTench({"--help"}).output);
}

TEST(RunProgramTest, PrintsTheVersionThatItWasGiven) {
  const ProgramRun run = RunTench({"--version"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.output, "tench 1.2.3\n");
}

TEST(RunProgramTest, NamesTheNearestCommandAndFlag) {
  EXPECT_EQ(RunTench({"swep"}).errors,
            "tench: unknown argument 'swep'; did you mean 'sweep'? (see tench --help)\n");
  const ProgramRun run = RunTench({"run", "--netwrk=lenet"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.errors, AllOf(HasSubstr("unknown option '--netwrk'"), HasSubstr("--network"),
                                HasSubstr("see tench run --help")));
}

// One command line per command, and the words that its error contains.
struct BadLine {
  std::vector<std::string> arguments;
  std::string message;
};
void PrintTo(const BadLine& line, std::ostream* out) { *out << line.arguments.front(); }

class BadLineTest : public testing::TestWithParam<BadLine> {};

TEST_P(BadLineTest, IsOneLineOnStandardErrorAndExitCodeTwo) {
  const ProgramRun run = RunTench(GetParam().arguments);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_THAT(run.errors, AllOf(StartsWith("tench: "), HasSubstr(GetParam().message)));
  EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, BadLineTest,
    testing::Values(
        BadLine{{"list", "netwoks"}, "there is no list of 'netwoks'"},
        BadLine{{"list", "netwoks", "--plain"}, "there is no list of 'netwoks'"},
        BadLine{{"list", "--json", "--plain"}, "--json"}, BadLine{{"show"}, "network is required"},
        BadLine{{"show", "lenett"}, "lenet"},
        BadLine{{"show", "lenet", "--batch", "0"}, "batch: '0'"},
        BadLine{{"run", "--network", "lenet"}, "--worker is missing"},
        BadLine{{"run", "--worker", "reference", "--network", "lenet", "--steps", "few"},
                "--steps"},
        BadLine{{"sweep"}, "suite is required"},
        BadLine{{"sweep", "no-such-suite"}, "no-such-suite"},
        BadLine{{"sweep", "quick", "--rounds", "0"}, "--rounds"},
        BadLine{{"train"}, "--solver is required"},
        BadLine{{"train", "--solver", "/no/solver.prototxt"}, "/no/solver.prototxt"},
        BadLine{{"verify", "--network", "lenett"}, "lenet"},
        BadLine{{"verify", "--batch", "1"}, "--batch"},
        BadLine{{"results", "--csv", "--json"}, "--csv, --json and --markdown exclude each other"},
        BadLine{{"results", "--by", "btch"}, "--by"},
        BadLine{{"results", "--db", "/no/such.db"}, "/no/such.db"},
        BadLine{{"compare", "a"}, "B is required"},
        BadLine{{"compare", "1", "2", "--margin", "200%"}, "--margin: '200%'"},
        BadLine{{"compare", "1", "2", "--of", "mean"}, "--of"},
        BadLine{{"report", "--db", "/no/such.db"}, "/no/such.db"},
        BadLine{{"export"}, "nothing to write: use --thesis FOLDER"},
        BadLine{{"import"}, "no log was given"},
        BadLine{{"import", "--here", "--machine", "pond"}, "--machine"},
        BadLine{{"merge", "out.db"}, "IN is required"},
        BadLine{{"merge", "/no/out.db", "/no/in.db"}, "/no/in.db"},
        BadLine{{"doctor", "--jsn"}, "unknown option '--jsn'"},
        BadLine{{"man", "--jsn"}, "unknown option '--jsn'"},
        BadLine{{"completion"}, "shell is required"}, BadLine{{"completion", "tcsh"}, "tcsh"}),
    [](const testing::TestParamInfo<BadLine>& line) {
      return line.param.arguments.front() + std::to_string(line.index);
    });

TEST(ListTest, PlainNamesAreOnePerLine) {
  EXPECT_EQ(RunTench({"list", "--plain"}).output,
            "workers\nnetworks\ndatasets\nformats\nsuites\naxes\n");
  EXPECT_THAT(RunTench({"list", "networks", "--plain"}).output, StartsWith("lenet\n"));
  EXPECT_THAT(RunTench({"list", "axes", "--plain"}).output, StartsWith("worker\nnetwork\n"));
}

TEST(ListTest, JsonHoldsEveryTopic) {
  const ProgramRun run = RunTench({"list", "axes", "--json"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, AllOf(StartsWith("["), HasSubstr("\"name\": \"weight_decay\"")));
}

TEST(ListTest, DataSetsHaveThePublishedNumberOfImages) {
  const ProgramRun run = RunTench({"list", "datasets"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, HasSubstr("mnist     60000    handwritten"));
}

TEST(ShowTest, CountsTheParametersOfLenet) {
  const ProgramRun run = RunTench({"show", "lenet", "--json"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, HasSubstr("\"parameters\": 431080"));
}

TEST(SweepTest, ADryRunListsCellsAndWritesNothing) {
  const TemporaryFolder folder = *TemporaryFolder::Make("cli-test");
  const std::string suite = folder.path() / "s.yaml", store = folder.path() / "s.db";
  ASSERT_TRUE(
      WriteFileAtomically(suite,
                          "title: two\nrounds: 3\nworker: reference\nnetwork: [lenet, mlp]\n"
                          "batch: 4\n")
          .ok());
  const ProgramRun run = RunTench({"sweep", suite, "--dry-run", "--db", store});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("2 cells x 3 rounds = 6 runs\n"));
  EXPECT_THAT(RunTench({"sweep", suite, "--dry-run", "--rounds", "2"}).output,
              HasSubstr("2 cells x 2 rounds = 4 runs\n"));
  EXPECT_FALSE(std::filesystem::exists(store));
}

TEST(ManTest, PrintsTroff) {
  const ProgramRun run = RunTench({"man"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, StartsWith(".TH TENCH 1 \"\" \"tench 1.2.3\""));
}

TEST(CompletionTest, PrintsTheScriptOfTheShell) {
  EXPECT_THAT(RunTench({"completion", "bash"}).output,
              AllOf(StartsWith("# bash completion"), HasSubstr("--tune-budget")));
  EXPECT_THAT(RunTench({"completion", "zsh"}).output, StartsWith("#compdef tench\n"));
  EXPECT_THAT(RunTench({"completion", "fish"}).output, StartsWith("# fish completion"));
}

}  // namespace
}  // namespace tench::program_test
