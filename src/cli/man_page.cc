// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include "base/text.h"
#include "cli/exit_code.h"

namespace tench {
namespace {

constexpr const char* kEnvironment = R"(.SH ENVIRONMENT
.TP
.B TENCH_WORKER_PATH
Folders with workers, separated by colons. They are searched before the folder of tench and PATH.
An element NAME=FILE is the executable of one worker, under a name of its own.
.TP
.B TENCH_SUITE_PATH
Folders with suites, separated by colons. They are searched before ./suites and the installed ones.
.TP
.B TENCH_SKETCH_PATH
Folders with sketches of the reference worker's answers, separated by colons.
.TP
.B TENCH_TENSORFLOW_ROOT, TENCH_MXNET_LIBRARY
The framework that the worker tensorflow or mxnet loads, instead of the installed one.
.TP
.B TENCH_CAFFE, TENCH_CAFFE_NAME
The program of the worker caffe, and of one of several builds: caffe@NAME.
.TP
.B NO_COLOR
If set, tables are printed without colour.
)";

// Escapes text for troff: a backslash starts an escape, a plain hyphen may be broken or replaced,
// and a line that begins with a dot or a quote is a request.
std::string Escape(std::string_view text) {
  std::string escaped;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Paragraph(const std::string& text) { return ".PP\n" + Escape(text) + "\n"; }

// The examples in a footer are aligned by hand.
std::string Verbatim(const std::string& text) {
  return text.empty() ? "" : ".PP\n.nf\n" + Escape(text) + "\n.fi\n";
}

std::string Bold(const std::string& text) { return "\\fB" + Escape(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Escape(text) + "\\fR"; }

std::string OptionEntry(const OptionHelp& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(Bold(name));
  std::string head = Join(names, ", ");
  if (option.takes_value) head += " " + Italic(option.form.empty() ? "VALUE" : option.form);
  if (option.repeated) head += " ...";
  return ".TP\n" + head + "\n" + Escape(option.about) + "\n";
}

std::string ArgumentEntry(const OptionHelp& argument) {
  return ".TP\n" + Italic(argument.names.front()) + (argument.repeated ? " ..." : "") + "\n" +
         Escape(argument.about) + "\n";
}

std::string ExitEntry(const ExitCodeRow& row) {
  return fmt::format(".TP\n.B {}\n{}\n", row.code, Escape(row.meaning));
}

std::string Synopsis(const CommandHelp& command) {
  std::string line = Bold("tench " + command.name) + " [" + Italic("OPTIONS") + "]";
  for (const OptionHelp& argument : command.arguments) {
    const std::string name = Italic(argument.names.front()) + (argument.repeated ? " ..." : "");
    line += argument.required ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

std::string CommandSection(const CommandHelp& command) {
  std::string text =
      ".SS tench " + Escape(command.name) + "\n" + Synopsis(command) + Paragraph(command.about);
  for (const OptionHelp& argument : command.arguments) text += ArgumentEntry(argument);
  std::string group;
  for (const OptionHelp& option : command.options) {
    if (option.group != group && option.group != "Options") text += Paragraph(option.group + ":");
    group = option.group;
    text += OptionEntry(option);
  }
  return text + Verbatim(command.footer);
}

}  // namespace

std::string RenderManPage(const ProgramHelp& help) {
  std::string text =
      fmt::format(".TH TENCH 1 \"\" \"{}\" \"User Commands\"\n", Escape(help.version));
  text += ".SH NAME\ntench \\- benchmark suite for deep\\-learning frameworks\n";
  text +=
      ".SH SYNOPSIS\n" + Bold("tench") + " " + Italic("COMMAND") + " [" + Italic("OPTIONS") + "]\n";
  text += ".SH DESCRIPTION\n" + Escape(help.about) + "\n" + Verbatim(help.footer);
  text += ".SH OPTIONS\n";
  for (const OptionHelp& option : help.options) text += OptionEntry(option);
  text += ".SH COMMANDS\n";
  for (const CommandHelp& command : help.commands) text += CommandSection(command);
  text += ".SH EXIT STATUS\n";
  for (const ExitCodeRow& row : ExitCodes()) text += ExitEntry(row);
  return text + kEnvironment;
}

}  // namespace tench
