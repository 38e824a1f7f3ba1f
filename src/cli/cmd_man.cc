// SPDX-License-Identifier: Apache-2.0
// `tench man`: the manual page, from the help texts.
#include "base/text.h"
#include "cli/command.h"
#include "cli/man_page.h"

namespace tench {

Command AddManCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("man", "The manual page in troff: tench man | man -l -");
  return {app, [&root]() -> Result<int> {
            fmt::print("{}", RenderManPage(DescribeProgram(root)));
            return 0;
          }};
}

}  // namespace tench
