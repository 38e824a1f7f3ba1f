// SPDX-License-Identifier: Apache-2.0
// `tench man`: the manual page, from the help texts.
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/command_reference.h"
#include "cli/man_page.h"

namespace tench {

Command AddManCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("man", "Print the manual page in troff: tench man | man -l -");
  auto markdown = std::make_shared<bool>(false);
  app->add_flag("--markdown", *markdown, "print docs/commands.md instead");
  return {app, [&root, markdown]() -> Result<int> {
            const ProgramHelp help = DescribeProgram(root);
            fmt::print("{}", *markdown ? RenderReference(help) : RenderManPage(help));
            return 0;
          }};
}

}  // namespace tench
