// SPDX-License-Identifier: Apache-2.0
#pragma once
// A command of the tench program: its flags, and the function that runs once they are parsed. Each
// cmd_*.cc adds one. `run` returns the exit code; program.cc prints an error as one line and exits
// with 2. `app` belongs to the root; `run` owns the values of the flags.

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
Command AddPredictCommand(CLI::App& root);
Command AddVerifyCommand(CLI::App& root);
Command AddResultsCommand(CLI::App& root);
Command AddRunsCommand(CLI::App& root);
Command AddStepsCommand(CLI::App& root);
Command AddSamplesCommand(CLI::App& root);
Command AddCompareCommand(CLI::App& root);
Command AddWhyCommand(CLI::App& root);
Command AddCensusCommand(CLI::App& root);
Command AddBenchOpCommand(CLI::App& root);
Command AddHistoryCommand(CLI::App& root);
Command AddReportCommand(CLI::App& root);
Command AddServeCommand(CLI::App& root);
Command AddBundleCommand(CLI::App& root);
Command AddExportCommand(CLI::App& root);
Command AddMergeCommand(CLI::App& root);
Command AddImportCommand(CLI::App& root);
Command AddDataCommand(CLI::App& root);
Command AddDoctorCommand(CLI::App& root);
// Both describe `root` as it is when they run, so that they name every command and flag.
Command AddManCommand(CLI::App& root);
Command AddCompletionCommand(CLI::App& root);

// The results file unless --db names another.
inline constexpr const char* kDefaultDatabase = "tench.db";

}  // namespace tench
