// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "cli/program.h"

namespace tench::completion_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ProgramHelp Small() {
  ProgramHelp help;
  CommandHelp command{"swim", "Swims: it's [fun]", "", {}, {}};
  OptionHelp worker;
  worker.names = {"--worker"};
  worker.takes_value = worker.repeated = true;
  worker.value.listed = true;
  worker.value.topic = "workers";
  OptionHelp output;
  output.names = {"-o", "--output"};
  output.takes_value = true;
  output.value.file = true;
  OptionHelp depth;
  depth.names = {"depth"};
  depth.takes_value = true;
  depth.value.words = {"low", "high"};
  command.options = {worker, output};
  command.arguments = {depth};
  help.commands = {command};
  return help;
}

TEST(CompletionTest, BashHasACasePerCommandAndValue) {
  EXPECT_THAT(RenderCompletion(Small(), Shell::kBash),
              AllOf(HasSubstr("    '') _tench_words 'swim ' ;;\n"),
                    HasSubstr("        --worker) _tench_listed 'workers'; return ;;\n"),
                    HasSubstr("        -o|--output) _tench_files; return ;;\n"),
                    HasSubstr("_tench_words '--worker -o --output'; else _tench_words 'low high'"),
                    HasSubstr("complete -F _tench tench\n")));
}

TEST(CompletionTest, ZshHasASpecificationPerOption) {
  EXPECT_THAT(
      RenderCompletion(Small(), Shell::kZsh),
      AllOf(HasSubstr("    'swim:Swims, its (fun)'\n"),
            HasSubstr("'*--worker=[]:value:{ _tench_listed workers }'"),
            HasSubstr("'-o+[]:value:{ _files }'"), HasSubstr("'--output=[]:value:{ _files }'"),
            HasSubstr("':depth:{ compadd low high }'")));
}

TEST(CompletionTest, FishHasALinePerOption) {
  const std::string start = "complete -c tench -n '__fish_seen_subcommand_from swim'";
  EXPECT_THAT(RenderCompletion(Small(), Shell::kFish),
              AllOf(HasSubstr("-n __fish_use_subcommand -a swim -d 'Swims, its (fun)'\n"),
                    HasSubstr(start + " -l worker -x -a '(__tench_listed workers)' -d ''\n"),
                    HasSubstr(start + " -s o -l output -r -F -d ''\n"),
                    HasSubstr(start + " -a 'low high'\n")));
}

// Runs the script in bash.
TEST(CompletionTest, BashCompletesCommandsFlagsAndChoices) {
  if (access("/bin/bash", X_OK) != 0) GTEST_SKIP() << "needs bash";
  CLI::App root;
  const std::vector<Command> commands = AddCommands(root, "tench 1.2.3");
  const TemporaryFolder folder = *TemporaryFolder::Make("cli-test");
  const std::string path = folder.path() / "try.bash";
  ASSERT_TRUE(WriteFileAtomically(
                  path, RenderCompletion(DescribeProgram(root), Shell::kBash) +
                            "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _tench; "
                            "echo \"${COMPREPLY[*]}\"; }\n"
                            "tench() { [[ $* == 'list workers --plain' ]] && echo native; }\n"
                            "try tench sw\n"
                            "try tench run --weight-\n"
                            "try tench run --precision b\n"
                            "try tench run --precision = b\n"
                            "try tench run --worker n\n"
                            "try tench completion z\n")
                  .ok());
  FILE* shell = popen(("/bin/bash " + ShellQuote(path) + " 2>&1").c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string output;
  std::array<char, 512> buffer;
  while (fgets(buffer.data(), buffer.size(), shell) != nullptr) output += buffer.data();
  EXPECT_EQ(pclose(shell), 0);
  EXPECT_EQ(output, "sweep\n--weight-decay\nbf16\nbf16\nnative\nzsh\n");
}

}  // namespace
}  // namespace tench::completion_test
