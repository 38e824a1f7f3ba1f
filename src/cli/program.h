// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tench program without its main(): parses a command line, runs one command, and returns the
// exit code (exit_code.h).
// Not aware of the git revision: main.cc passes the version text in.
// Thread safety: none; a process calls RunProgram from its main thread.

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace tench {

// "tench 0.1.0 (git 0123456789ab, dirty)"; without a revision "tench 0.1.0".
std::string VersionText(std::string_view version, std::string_view revision);

// Adds every command to `root`, in the order of the help text, and the flag --version.
std::vector<Command> AddCommands(CLI::App& root, const std::string& version);

int RunProgram(int argc, const char* const* argv, const std::string& version);

// Prints "tench: MESSAGE" on standard error, after flushing standard output; returns 2.
int FailProgram(std::string_view message);

}  // namespace tench
