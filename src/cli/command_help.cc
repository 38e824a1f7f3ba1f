// SPDX-License-Identifier: Apache-2.0
#include "cli/command_help.h"

#include <algorithm>
#include <map>
#include <set>

#include "axis/axis.h"
#include "base/text.h"
#include "cli/axis_flags.h"

namespace tench {
namespace {

// Topics of `tench list` that provide the values, by the name of the flag or argument.
const std::map<std::string, std::string>& ListedTopics() {
  static const std::map<std::string, std::string> topics = {{"--worker", "workers"},
                                                            {"--network", "networks"},
                                                            {"network", "networks"},
                                                            {"--data", "datasets"},
                                                            {"suite", "suites"},
                                                            {"--by", "axes"},
                                                            {"topic", ""}};
  return topics;
}

const std::set<std::string>& FileNames() {
  static const std::set<std::string> names = {"--db",
                                              "--solver",
                                              "--weights",
                                              "--output",
                                              "--figures",
                                              "--junit",
                                              "--thesis",
                                              "--caffe-log",
                                              "--tensorflow-log",
                                              "--write-sketches",
                                              "--network",
                                              "network",
                                              "suite",
                                              "FILE",
                                              "OUT",
                                              "IN",
                                              "A",
                                              "B"};
  return names;
}

ValueHelp DescribeValue(const std::vector<std::string>& names, const std::string& form) {
  ValueHelp value;
  if (form.find('|') != std::string::npos) value.words = Split(form, '|');
  for (const std::string& name : names) {
    const auto topic = ListedTopics().find(name);
    if (topic != ListedTopics().end()) value.listed = true, value.topic = topic->second;
    if (FileNames().contains(name)) value.file = true;
    for (const Axis& axis : Axes()) {
      if (AxisFlagName(axis) == name && !axis.choices.empty()) value.words = axis.choices;
    }
  }
  return value;
}

OptionHelp DescribeOption(const CLI::Option& option) {
  OptionHelp help;
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  if (option.get_positional()) help.names = {option.get_name(true)};
  help.about = option.get_description();
  help.group = option.get_group();
  help.takes_value = option.get_items_expected_max() > 0;
  help.repeated = help.takes_value && option.get_items_expected_max() > 1;
  help.required = option.get_required();
  if (!help.takes_value) return help;
  help.form = option.get_type_name();
  help.value = DescribeValue(help.names, help.form);
  return help;
}

void DescribeOptions(const CLI::App& app, std::vector<OptionHelp>& options,
                     std::vector<OptionHelp>* arguments) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    const bool argument = option->get_positional();
    if (argument && arguments != nullptr) arguments->push_back(DescribeOption(*option));
    if (!argument) options.push_back(DescribeOption(*option));
  }
}

}  // namespace

ProgramHelp DescribeProgram(const CLI::App& root) {
  ProgramHelp help{root.get_description(), root.get_footer(), root.version(), {}, {}};
  DescribeOptions(root, help.options, nullptr);
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
    CommandHelp command{app->get_name(), app->get_description(), app->get_footer(), {}, {}};
    if (command.footer == help.footer) command.footer.clear();  // inherited
    DescribeOptions(*app, command.options, &command.arguments);
    help.commands.push_back(std::move(command));
  }
  return help;
}

}  // namespace tench
