// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/text.h"
#include "cli/exit_code.h"

namespace tench {
namespace {

constexpr const char* kAbout =
    "tench: compares the training and inference speed of deep-learning frameworks.\n"
    "It runs the same network with the same weights and data in each of them.";
constexpr const char* kFooter =
    "First steps:\n"
    "  tench doctor                                   check the machine and the workers\n"
    "  tench run --worker reference --network lenet   measure one cell\n"
    "  tench sweep quick                              measure a suite of cells\n"
    "  tench results                                  show the ranking\n"
    "Each command has its own --help.";

// CLI11 names the unexpected word; this adds the nearest known name.
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

// A failed write of results must not look like success. fmt::print throws where stdio only returns
// an error. A reader that left is no failure (standard_output.h).
int RunCommand(const Command& command) {
  constexpr const char* kUnwritten = "standard output could not be written";
  try {
    Result<int> code = command.run();
    if (!code.ok()) return FailProgram(code.error().message);
    if (std::fflush(stdout) != 0)
      return FailProgram(fmt::format("{}: {}", kUnwritten, std::strerror(errno)));
    return *code;
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) throw;
    return FailProgram(fmt::format("{}: {}", kUnwritten, error.code().message()));
  }
}

}  // namespace

std::string VersionText(std::string_view version, std::string_view revision) {
  if (revision.empty()) return fmt::format("tench {}", version);
  return fmt::format("tench {} (git {})", version, revision);
}

int FailProgram(std::string_view message) {
  std::fflush(stdout);
  fmt::print(stderr, "tench: {}\n", message);
  return kExitBadInput;
}

std::vector<Command> AddCommands(CLI::App& root, const std::string& version) {
  root.name("tench");
  root.description(kAbout);
  root.footer(kFooter);
  root.set_version_flag("--version", version);
  root.require_subcommand(0, 1);
  root.get_formatter()->column_width(34);
  return {AddListCommand(root),    AddShowCommand(root),      AddRunCommand(root),
          AddSweepCommand(root),   AddTrainCommand(root),     AddPredictCommand(root),
          AddVerifyCommand(root),  AddResultsCommand(root),   AddRunsCommand(root),
          AddStepsCommand(root),   AddSamplesCommand(root),   AddCompareCommand(root),
          AddWhyCommand(root),     AddCensusCommand(root),    AddBenchOpCommand(root),
          AddHistoryCommand(root), AddReportCommand(root),    AddServeCommand(root),
          AddBundleCommand(root),  AddExportCommand(root),    AddImportCommand(root),
          AddMergeCommand(root),   AddDataCommand(root),      AddDoctorCommand(root),
          AddManCommand(root),     AddCompletionCommand(root)};
}

int RunProgram(int argc, const char* const* argv, const std::string& version) {
  CLI::App root;
  const std::vector<Command> commands = AddCommands(root, version);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return root.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return root.exit(help);
  } catch (const CLI::CallForVersion& call) {
    return root.exit(call);
  } catch (const CLI::ParseError& error) {
    return FailProgram(Explain(root, error));
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    return RunCommand(command);
  }
  fmt::print("{}", root.help());
  return 0;
}

}  // namespace tench
