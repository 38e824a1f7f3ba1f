// SPDX-License-Identifier: Apache-2.0
// Runs every text case in tests/e2e/cases. A case is a transcript:
//   # a comment
//   $ tench show lennet
//   tench: there is no network 'lennet'; did you mean 'lenet'?
//   [exit 2]
// A command goes to the shell in a fresh folder (shared by the commands of one case), with the
// built binaries first on PATH, TENCH_CASES set to the folder of the cases, TENCH_SOURCE to the
// project and TENCH_TEST_WORKERS to the folder of the workers that only tests use. "> " lines
// continue a command. stdout and stderr are expected interleaved, and "[exit N]" follows if N is
// not 0. golden.h defines holes and rewriting.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "golden.h"

namespace tench::case_test {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(TENCH_SOURCE_DIR) / "tests/e2e/cases";

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The command's output, with its exit code as the last line.
std::string RunCommand(const std::string& command, const fs::path& folder) {
  const std::string script = "cd " + ShellQuote(folder.string()) + " && exec 2>&1\n" + command;
  FILE* pipe = popen(("sh -c " + ShellQuote(script)).c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
  const int status = pclose(pipe);
  if (!output.empty() && output.back() != '\n') output += '\n';
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0) output += "[exit " + std::to_string(code) + "]\n";
  return output;
}

// Whether tench warns of a busy machine depends on what else runs on it.
std::string WithoutBusyWarnings(const std::string& output) {
  std::string rest, line;
  for (std::istringstream lines(output); std::getline(lines, line);) {
    if (!line.starts_with("warning: the machine was busy")) rest += line + "\n";
  }
  return rest;
}

// The transcript with every expected output replaced by the actual one.
std::string Replay(const std::string& transcript, const fs::path& folder) {
  std::string actual, command, echo;
  const auto flush = [&] {
    if (!command.empty()) actual += echo + WithoutBusyWarnings(RunCommand(command, folder));
    command.clear();
    echo.clear();
  };
  for (const std::string& line : Split(transcript, '\n')) {
    if (line.starts_with("$ ")) {
      flush();
      command = line.substr(2);
      echo = line + "\n";
    } else if (line.starts_with("> ") && !command.empty()) {
      command += "\n" + line.substr(2);
      echo += line + "\n";
    } else if (line.starts_with("#")) {
      flush();
      actual += line + "\n";
    }
  }
  flush();
  return actual;
}

class CaseTest : public testing::TestWithParam<std::string> {};

TEST_P(CaseTest, BehavesAsWritten) {
#ifdef __SANITIZE_ADDRESS__
  if (GetParam() == "preloaded")
    GTEST_SKIP() << "the address sanitizer refuses programs with a preloaded library";
#endif
  const fs::path path = kCases / (GetParam() + ".txt");
  const std::string transcript = *ReadFile(path);
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-case");
  setenv("PATH", (std::string(TENCH_BIN_DIR) + ":" + getenv("PATH")).c_str(), 1);
  setenv("TENCH_CASES", kCases.c_str(), 1);
  setenv("TENCH_SOURCE", TENCH_SOURCE_DIR, 1);
  setenv("TENCH_TEST_WORKERS", TENCH_TEST_WORKERS, 1);
  setenv("TENCH_MACHINE", "testbed", 1);
  unsetenv("TENCH_WORKER_PATH");
  EXPECT_TRUE(MatchesGoldenFile(path, Replay(transcript, folder.path())));
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseTest, testing::ValuesIn(CaseNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tench::case_test
