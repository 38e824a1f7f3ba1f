// SPDX-License-Identifier: Apache-2.0
// `tench data`: checks the files of a data set, or converts them into another format.
#include <memory>

#include "base/plural.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/live_line.h"
#include "data/data_conversion.h"
#include "data/data_reference.h"

namespace tench {
namespace {

struct DataFlags {
  std::string action, from, to;
};

constexpr size_t kShown = 20;  // classes and shapes in the text of a check

std::string Reference(const std::string& text, const std::string& format) {
  return IsDataReference(text) ? text : fmt::format("{}:{}", format, text);
}

DataProgress ShowOn(LiveLine& line, const char* verb) {
  return [&line, verb](int64_t done, int64_t total) {
    line.Show(CountedProgress(static_cast<size_t>(done), static_cast<size_t>(total), verb));
  };
}

// "carp 100, pike 30", the first kShown of them.
template <class Key, class NameOf>
std::string Counts(const std::map<Key, int64_t>& counts, const NameOf& name_of) {
  std::vector<std::string> parts;
  for (const auto& [key, count] : counts) {
    if (parts.size() < kShown) parts.push_back(fmt::format("{} {}", name_of(key), count));
  }
  if (counts.size() > kShown) parts.push_back(fmt::format("{} more", counts.size() - kShown));
  return Join(parts, ", ");
}

void Print(const SourceFacts& facts, const DataCheck& check) {
  fmt::print("format    {}\n", facts.format);
  fmt::print("samples   {}\n", facts.count);
  fmt::print("classes   {} ({})\n", check.of_class.size(),
             Counts(check.of_class, [&](int64_t label) {
               const auto index = static_cast<size_t>(label);
               return index < facts.class_names.size() ? facts.class_names[index]
                                                       : fmt::format("{}:", label);
             }));
  fmt::print("shapes    {}\n",
             Counts(check.of_shape, [](const std::string& shape) { return shape + ":"; }));
  fmt::print("broken    {}\n", check.broken.size());
  for (const std::string& line : check.broken) fmt::print("  {}\n", line);
}

Result<int> CheckFiles(const DataFlags& flags) {
  if (!flags.to.empty()) return Failed("tench data check takes one PATH");
  const std::string format = IsDataReference(flags.from) ? "" : TENCH_TRY(DetectFormat(flags.from));
  const FileData data = TENCH_TRY(FileData::Open(Reference(flags.from, format)));
  const Interrupt interrupt;
  LiveLine line;
  const DataCheck check =
      CheckSamples(data.source(), ShowOn(line, "samples checked"), interrupt.stop());
  line.Clear();
  if (check.checked < data.facts().count) return int{kExitInterrupted};
  Print(data.facts(), check);
  return check.broken.empty() ? int{kExitOk} : int{kExitNegative};
}

Result<int> Convert(const DataFlags& flags) {
  if (flags.to.empty() || !IsDataReference(flags.to))
    return Failed("tench data convert takes FROM and FORMAT:PATH");
  const std::string format = IsDataReference(flags.from) ? "" : TENCH_TRY(DetectFormat(flags.from));
  const Interrupt interrupt;
  LiveLine line;
  const ConversionResult result =
      TENCH_TRY(ConvertData(Reference(flags.from, format), flags.to,
                            ShowOn(line, "samples converted"), interrupt.stop()));
  line.Clear();
  if (result.resumed_from > 0)
    fmt::print(stderr, "tench: continued after {}\n", Plural(result.resumed_from, "sample"));
  if (!result.complete) {
    fmt::print(stderr, "tench: interrupted after {}; the same command continues\n",
               Plural(result.samples, "sample"));
    return int{kExitInterrupted};
  }
  fmt::print("{}: {}\n", flags.to, Plural(result.samples, "sample"));
  return int{kExitOk};
}

Result<int> Run(const DataFlags& flags) {
  const std::vector<std::string> actions = {"check", "convert"};
  if (TENCH_TRY(PositionOf("action", flags.action, actions)) == 0) return CheckFiles(flags);
  return Convert(flags);
}

}  // namespace

Command AddDataCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("data", "Check or convert the files of a data set");
  auto flags = std::make_shared<DataFlags>();
  app->add_option("ACTION", flags->action, "check or convert")->required()->type_name("");
  app->add_option("FROM", flags->from, "files: a path, or FORMAT:PATH with keys (docs/data.md)")
      ->required()
      ->type_name("");
  app->add_option("TO", flags->to,
                  "convert: FORMAT:PATH to write; mnist, folder, lmdb, tfrecord or recordio")
      ->type_name("");
  app->footer(
      "A check reads every sample and prints the format, the counts of classes and shapes, and\n"
      "each broken file; the exit code is 1 if there is one.\n"
      "A conversion appears under its name when it is complete. The same command continues an\n"
      "interrupted one. The keys resize=H and channels=N of FROM decode the images.\n"
      "  tench data check photos\n"
      "  tench data convert folder:photos,resize=256 lmdb:photos_lmdb\n"
      "  tench data convert csv:digits.csv.gz,shape=1x28x28 mnist:digits");
  return {app, [flags] { return Run(*flags); }};
}

}  // namespace tench
