// SPDX-License-Identifier: Apache-2.0
#include "cli/command_reference.h"

#include "base/text.h"
#include "report/text_table.h"

namespace tench {
namespace {

constexpr size_t kPageColumns = 100;

constexpr const char* kHead =
    "# Commands\n"
    "\n"
    "Every command and flag of `tench`, from its help texts: `tench man --markdown` writes this\n"
    "page, and a test compares them. `tench COMMAND --help` and `tench man` print the same.\n";

std::string Entry(const OptionHelp& option) {
  std::string head = Join(option.names, ", ");
  if (option.takes_value && option.names.front().starts_with('-'))
    head += " " + (option.form.empty() ? std::string("VALUE") : option.form);
  if (option.repeated) head += " …";
  return WrapText(fmt::format("- `{}`: {}", head, option.about), kPageColumns, 2) + "\n";
}

std::string SynopsisText(const CommandHelp& command) {
  std::string line = "tench " + command.name + " [OPTIONS]";
  for (const OptionHelp& argument : command.arguments) {
    const std::string name = argument.names.front() + (argument.repeated ? "…" : "");
    line += argument.required ? " " + name : " [" + name + "]";
  }
  return line;
}

}  // namespace

std::string RenderReference(const ProgramHelp& help) {
  std::string text = kHead;
  for (const CommandHelp& command : help.commands) {
    text += fmt::format("\n## {}\n\n{}.\n\n```\n{}\n```\n\n", command.name,
                        WrapText(command.about, kPageColumns - 1, 0), SynopsisText(command));
    for (const OptionHelp& argument : command.arguments) text += Entry(argument);
    std::string group;
    for (const OptionHelp& option : command.options) {
      if (option.names.back() == "--help") continue;
      if (option.group != group && option.group != "Options")
        text += fmt::format("\n{}:\n\n", option.group);
      group = option.group;
      text += Entry(option);
    }
    if (!command.footer.empty()) text += fmt::format("\n```\n{}\n```\n", command.footer);
  }
  return text;
}

}  // namespace tench
