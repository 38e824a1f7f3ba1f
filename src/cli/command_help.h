// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands and flags of the program as plain values, read from the CLI11 app that parses them.
// The man page and the shell completions are generated from them, so both list exactly the existing
// flags. Not aware of troff or of any shell.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tench {

// How a shell completes a value. A flag without a row in the table of command_help.cc completes to
// nothing.
struct ValueHelp {
  std::vector<std::string> words;  // fixed choices
  bool listed = false;             // the names that `tench list TOPIC --plain` prints
  std::string topic;               // "workers"; "" = the topics themselves
  bool file = false;               // a file or folder
};

struct OptionHelp {
  std::vector<std::string> names;  // "-o", "--output"; for an argument only its name: "suite"
  std::string about, group;
  std::string form;  // "shortest|median"; "" = any text
  bool takes_value = false, repeated = false, required = false;
  ValueHelp value;
};

struct CommandHelp {
  std::string name, about, footer;
  std::vector<OptionHelp> options, arguments;
};

struct ProgramHelp {
  std::string about, footer, version;
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> commands;
};

// `root` with all its commands added.
ProgramHelp DescribeProgram(const CLI::App& root);

}  // namespace tench
