// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "base/text.h"

namespace tench {
namespace {

std::string AllNames(const std::vector<OptionHelp>& options) {
  std::vector<std::string> names;
  for (const OptionHelp& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return Join(names, " ");
}

// The first line, without characters that are syntax in one of the three shells.
std::string FirstLine(const std::string& about) {
  std::string text = about.substr(0, about.find('\n'));
  std::erase_if(
      text, [](char c) { return std::string_view("'\"`\\$").find(c) != std::string_view::npos; });
  for (char& c : text) {
    if (c == ':') c = ',';
    if (c == '[' || c == '{') c = '(';
    if (c == ']' || c == '}') c = ')';
  }
  return text;
}

// ---- bash ----

constexpr const char* kBashHead =
    R"sh(# bash completion for tench; written by `tench completion bash`.
_tench_words() { COMPREPLY+=($(compgen -W "$1" -- "$current")); }
_tench_listed() { _tench_words "$("${COMP_WORDS[0]}" list $1 --plain 2>/dev/null)"; }
_tench_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY+=($(compgen -f -- "$current"))
}
_tench() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= i
  COMPREPLY=()
  # bash splits --flag=value at the equals sign.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  case $command in
)sh";

std::string BashCalls(const ValueHelp& value) {
  std::string calls;
  if (!value.words.empty()) calls += "_tench_words '" + Join(value.words, " ") + "'; ";
  if (value.listed) calls += "_tench_listed '" + value.topic + "'; ";
  if (value.file) calls += "_tench_files; ";
  return calls;
}

std::string BashCommand(const CommandHelp& command) {
  std::string text = "    " + command.name + ")\n      case $previous in\n";
  for (const OptionHelp& option : command.options) {
    if (!option.takes_value) continue;
    text +=
        fmt::format("        {}) {}return ;;\n", Join(option.names, "|"), BashCalls(option.value));
  }
  text += "      esac\n";
  std::string arguments;
  for (const OptionHelp& argument : command.arguments) arguments += BashCalls(argument.value);
  text += fmt::format("      if [[ $current == -* ]]; then _tench_words '{}'; {}fi ;;\n",
                      AllNames(command.options), arguments.empty() ? "" : "else " + arguments);
  return text;
}

std::string RenderBash(const ProgramHelp& help) {
  std::vector<std::string> names;
  for (const CommandHelp& command : help.commands) names.push_back(command.name);
  std::string text = kBashHead;
  text +=
      fmt::format("    '') _tench_words '{} {}' ;;\n", Join(names, " "), AllNames(help.options));
  for (const CommandHelp& command : help.commands) text += BashCommand(command);
  return text + "  esac\n}\ncomplete -F _tench tench\n";
}

// ---- zsh ----

constexpr const char* kZshHead = R"sh(#compdef tench
# zsh completion for tench; written by `tench completion zsh`.
_tench_listed() {
  local -a names
  names=(${(f)"$($_tench_program list $1 --plain 2>/dev/null)"})
  compadd -a names
}
_tench() {
  local context state state_descr line _tench_program=$words[1]
  typeset -A opt_args
  local -a commands
)sh";

std::string ZshAction(const ValueHelp& value) {
  std::vector<std::string> actions;
  if (!value.words.empty()) actions.push_back("compadd " + Join(value.words, " "));
  if (value.listed)
    actions.push_back("_tench_listed" + (value.topic.empty() ? "" : " " + value.topic));
  if (value.file) actions.push_back("_files");
  return actions.empty() ? " " : "{ " + Join(actions, "; ") + " }";
}

std::string ZshOption(const OptionHelp& option) {
  std::string specs;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    const std::string sign = !option.takes_value ? "" : is_long ? "=" : "+";
    specs += fmt::format(" \\\n          '{}{}{}[{}]{}'", option.repeated ? "*" : "", name, sign,
                         FirstLine(option.about),
                         option.takes_value ? ":value:" + ZshAction(option.value) : "");
  }
  return specs;
}

std::string ZshCommand(const CommandHelp& command) {
  std::string text = "        " + command.name + ") _arguments";
  for (const OptionHelp& option : command.options) text += ZshOption(option);
  for (const OptionHelp& argument : command.arguments) {
    text += fmt::format(" \\\n          '{}:{}:{}'", argument.repeated ? "*" : "",
                        argument.names.front(), ZshAction(argument.value));
  }
  return text + " ;;\n";
}

std::string RenderZsh(const ProgramHelp& help) {
  std::string text = kZshHead;
  text += "  commands=(\n";
  for (const CommandHelp& command : help.commands)
    text += fmt::format("    '{}:{}'\n", command.name, FirstLine(command.about));
  text += "  )\n  _arguments -C";
  for (const OptionHelp& option : help.options) text += ZshOption(option);
  text +=
      " \\\n          '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const CommandHelp& command : help.commands) text += ZshCommand(command);
  text += "      esac ;;\n  esac\n}\n";
  // The sourced script registers itself; from a folder in fpath, zsh calls it as a function.
  return text +
         "if [[ $funcstack[1] == _tench ]]; then _tench \"$@\"; else compdef _tench tench; fi\n";
}

// ---- fish ----

constexpr const char* kFishHead =
    R"sh(# fish completion for tench; written by `tench completion fish`.
function __tench_listed
    set -l words (commandline -opc)
    $words[1] list $argv --plain 2>/dev/null
end
complete -c tench -f
)sh";

std::string FishSources(const ValueHelp& value) {
  std::vector<std::string> sources = value.words;
  if (value.listed)
    sources.push_back("(__tench_listed" + (value.topic.empty() ? "" : " " + value.topic) + ")");
  return sources.empty() ? "" : " -a '" + Join(sources, " ") + "'";
}

std::string FishOption(const OptionHelp& option, const std::string& condition) {
  std::string text = "complete -c tench -n '" + condition + "'";
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value)
    text += (option.value.file ? " -r -F" : " -x") + FishSources(option.value);
  return text + " -d '" + FirstLine(option.about) + "'\n";
}

std::string RenderFish(const ProgramHelp& help) {
  std::string text = kFishHead;
  for (const OptionHelp& option : help.options) text += FishOption(option, "__fish_use_subcommand");
  for (const CommandHelp& command : help.commands) {
    text += fmt::format("complete -c tench -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        FirstLine(command.about));
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    for (const OptionHelp& option : command.options) text += FishOption(option, condition);
    for (const OptionHelp& argument : command.arguments) {
      text += "complete -c tench -n '" + condition + "'" + (argument.value.file ? " -F" : "") +
              FishSources(argument.value) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string RenderCompletion(const ProgramHelp& help, Shell shell) {
  switch (shell) {
    case Shell::kBash:
      return RenderBash(help);
    case Shell::kZsh:
      return RenderZsh(help);
    case Shell::kFish:
      return RenderFish(help);
  }
  return "";
}

}  // namespace tench
