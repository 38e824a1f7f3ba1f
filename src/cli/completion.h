// SPDX-License-Identifier: Apache-2.0
#pragma once
// Completion scripts for bash, zsh and fish: commands, flags and values. Fixed choices are part of
// the script. Names of workers, networks, data sets and suites come from `tench list TOPIC --plain`
// at completion time. Not aware of CLI11.

#include <string>

#include "cli/command_help.h"

namespace tench {

enum class Shell { kBash, kZsh, kFish };

// The whole script, to be sourced or installed under the shell's name for it.
std::string RenderCompletion(const ProgramHelp& help, Shell shell);

}  // namespace tench
