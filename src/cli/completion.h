// SPDX-License-Identifier: Apache-2.0
#pragma once
// Completion scripts for bash, zsh and fish: commands, flags, and values. Fixed choices are written
// into the script; names of workers, networks, data sets and suites are asked from the program with
// `tench list TOPIC --plain` when the user presses Tab. Not aware of CLI11.

#include <string>

#include "cli/command_help.h"

namespace tench {

enum class Shell { kBash, kZsh, kFish };

// The whole script, ready to be sourced or installed under the shell's own name for it.
std::string RenderCompletion(const ProgramHelp& help, Shell shell);

}  // namespace tench
