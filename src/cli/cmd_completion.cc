// SPDX-License-Identifier: Apache-2.0
// `tench completion`: scripts that complete commands, flags and names in a shell.
#include <map>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/completion.h"

namespace tench {
namespace {

const std::map<std::string, Shell>& Shells() {
  static const std::map<std::string, Shell> shells = {
      {"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}};
  return shells;
}

}  // namespace

Command AddCompletionCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("completion", "Print the completion script for bash, zsh or fish");
  auto shell = std::make_shared<std::string>();
  app->add_option("shell", *shell, "shell of the script")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  app->footer(
      "  source <(tench completion bash)\n"
      "  source <(tench completion zsh)\n"
      "  tench completion fish | source");
  return {app, [&root, shell]() -> Result<int> {
            fmt::print("{}", RenderCompletion(DescribeProgram(root), Shells().at(*shell)));
            return 0;
          }};
}

}  // namespace tench
