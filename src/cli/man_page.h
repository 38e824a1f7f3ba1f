// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program's manual page in troff with the man macros: one subsection per command, from the help
// texts. Not aware of CLI11.

#include <string>

#include "cli/command_help.h"

namespace tench {

// The page tench(1). Its bytes depend on `help` alone, so that a build is reproducible.
std::string RenderManPage(const ProgramHelp& help);

}  // namespace tench
