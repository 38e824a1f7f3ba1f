// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference of all commands in Markdown, from the help texts: docs/commands.md. Not aware of
// CLI11.

#include <string>

#include "cli/command_help.h"

namespace tench {

// Wrapped at 100 columns. The bytes depend on `help` alone and not on its version.
std::string RenderReference(const ProgramHelp& help);

}  // namespace tench
