// SPDX-License-Identifier: Apache-2.0
#pragma once
// For the tests of commands: runs a command line through the library and captures both streams. Not
// thread-safe: the capture replaces the process's descriptors.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/program.h"

namespace tench {

struct ProgramRun {
  int code = 0;
  std::string output, errors;
};

// `arguments` without the program's name.
inline ProgramRun RunTench(const std::vector<std::string>& arguments) {
  setenv("TENCH_WORKER_PATH", TENCH_BIN_DIR, 1);  // workers are not beside a test's executable
  std::vector<const char*> argv = {"tench"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ProgramRun run;
  run.code = RunProgram(static_cast<int>(argv.size()), argv.data(), "tench 1.2.3");
  run.output = testing::internal::GetCapturedStdout();
  run.errors = testing::internal::GetCapturedStderr();
  return run;
}

}  // namespace tench
