// SPDX-License-Identifier: Apache-2.0
// The tench program: parses the command line, runs one command, and turns its result into an exit
// code.
//   0  done            1  done, and the answer is "no" (a failed run, a failed check, something
//   slower) 3  done, and the answer is "nobody knows" (an ambiguous comparison) 2  the user's
//   mistake, or the machine's (one line says which)      130  stopped by Ctrl-C
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"

namespace tench {
namespace {

constexpr const char* kAbout =
    "tench: trains the same networks, from the same weights, on the same data, in every "
    "deep-learning framework,\n"
    "and reports what each costs.";
constexpr const char* kFooter =
    "Start with: tench doctor; tench run --worker reference --network lenet; tench sweep quick; "
    "tench results\n"
    "Each command has its own --help.";

int Fail(std::string_view message) {
  std::fflush(stdout);
  fmt::print(stderr, "tench: {}\n", message);
  return 2;
}

// CLI11 says what was not expected; the nearest name is what the user wants to know.
std::string Explain(const CLI::App& root, const CLI::ParseError& error) {
  std::string message = error.what();
  const CLI::App* scope = &root;
  for (const CLI::App* sub : root.get_subcommands()) scope = sub;
  std::vector<std::string> names;
  for (const CLI::App* sub : scope->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  for (const CLI::Option* option : scope->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& extra : scope->remaining()) {
    const std::string name = extra.substr(0, extra.find('='));
    return fmt::format("unknown {} '{}'{} (see tench {}--help)",
                       name.starts_with("-") ? "option" : "argument", name, Hint(name, names),
                       scope == &root ? "" : scope->get_name() + " ");
  }
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  return message;
}

int Main(int argc, char** argv) {
  CLI::App root{kAbout, "tench"};
  root.footer(kFooter);
  root.set_version_flag("--version", "tench " TENCH_VERSION);
  root.require_subcommand(0, 1);
  root.get_formatter()->column_width(34);
  const std::vector<Command> commands = {
      AddListCommand(root),    AddShowCommand(root),    AddRunCommand(root),
      AddSweepCommand(root),   AddTrainCommand(root),   AddVerifyCommand(root),
      AddResultsCommand(root), AddCompareCommand(root), AddReportCommand(root),
      AddExportCommand(root),  AddImportCommand(root),  AddMergeCommand(root),
      AddDoctorCommand(root)};
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return root.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return root.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return root.exit(version);
  } catch (const CLI::ParseError& error) {
    return Fail(Explain(root, error));
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    Result<int> code = command.run();
    if (!code.ok()) return Fail(code.error().message);
    // What did not reach the pipe or the disk must not look like success.
    if (std::fflush(stdout) != 0) return Fail("standard output could not be written");
    return *code;
  }
  fmt::print("{}", root.help());
  return 0;
}

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  try {
    return tench::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return tench::Fail("out of memory");
  }
}
