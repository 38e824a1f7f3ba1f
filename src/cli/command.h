// SPDX-License-Identifier: Apache-2.0
#pragma once
// A command of the tench program: its flags, and what it does once they are parsed. Each cmd_*.cc
// adds one. An error it returns is printed by main as one line, and the exit code is 2; otherwise
// the code is what it returns.

#include <CLI/CLI.hpp>
#include <functional>

#include "base/error.h"

namespace tench {

struct Command {
  CLI::App* app = nullptr;
  std::function<Result<int>()> run;
};

Command AddListCommand(CLI::App& root);
Command AddShowCommand(CLI::App& root);
Command AddRunCommand(CLI::App& root);
Command AddSweepCommand(CLI::App& root);
Command AddTrainCommand(CLI::App& root);
Command AddVerifyCommand(CLI::App& root);
Command AddResultsCommand(CLI::App& root);
Command AddCompareCommand(CLI::App& root);
Command AddReportCommand(CLI::App& root);
Command AddExportCommand(CLI::App& root);
Command AddMergeCommand(CLI::App& root);
Command AddImportCommand(CLI::App& root);
Command AddDoctorCommand(CLI::App& root);

// Where results go and come from unless --db says otherwise.
inline constexpr const char* kDefaultDatabase = "tench.db";

}  // namespace tench
