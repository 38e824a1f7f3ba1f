// SPDX-License-Identifier: Apache-2.0
// `tench merge`: combines results files of several machines or times into one.
#include <filesystem>
#include <memory>

#include "base/plural.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/live_line.h"
#include "store/merge.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

struct MergeFlags {
  std::string output;
  std::vector<std::string> inputs;
};

struct OpenInput {
  std::string path;
  Store store;
};

// All files are opened before the first write.
Result<std::vector<OpenInput>> OpenInputs(const MergeFlags& flags) {
  std::vector<OpenInput> inputs;
  for (const std::string& path : flags.inputs) {
    std::error_code ignored;
    if (fs::equivalent(path, flags.output, ignored))
      return Failed("{}: a file cannot be merged into itself", path);
    inputs.push_back({path, TENCH_TRY(Store::Open(path, Store::Mode::kReadOnly))});
  }
  return inputs;
}

Result<int> Merge(const MergeFlags& flags) {
  std::vector<OpenInput> inputs = TENCH_TRY(OpenInputs(flags));
  std::error_code ignored;
  const bool is_new = !fs::exists(flags.output, ignored);
  Result<Store> output = Store::Open(flags.output, Store::Mode::kReadWrite);
  if (!output) return std::move(output).error();
  LiveLine line;
  const Status merged = output->InOneTransaction([&]() -> Status {
    for (size_t done = 0; OpenInput & input : inputs) {
      line.Show(CountedProgress(done++, inputs.size(), input.path));
      const MergeCounts counts = TENCH_TRY(MergeStore(*output, input.store).In(input.path));
      line.Print(fmt::format("{}: {} and {} added, {} already present", input.path,
                             Plural(counts.studies, "study", "studies"),
                             Plural(counts.runs, "run", "runs"), counts.known_runs));
      if (counts.conflicts > 0) {
        line.Print(fmt::format("{}: {} already present with another result; {} is unchanged",
                               input.path, Plural(counts.conflicts, "run is", "runs are"),
                               flags.output));
      }
    }
    return Ok();
  });
  if (!merged.ok()) {
    output = Failed("closed");
    // A newly created empty file would look like results.
    for (const char* suffix : {"", "-wal", "-shm"}) {
      if (is_new) fs::remove(flags.output + suffix, ignored);
    }
    return merged.error();
  }
  return 0;
}

}  // namespace

Command AddMergeCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("merge", "Merge results files of several machines into one");
  auto flags = std::make_shared<MergeFlags>();
  app->add_option("OUT", flags->output, "file to merge into, created if missing")
      ->required()
      ->type_name("");
  app->add_option("IN", flags->inputs, "files to merge; they are not changed")
      ->required()
      ->type_name("");
  app->footer(
      "Studies and runs keep their machine and identity, so merging a file twice adds nothing.\n"
      "Either all files are merged or none.\n"
      "  tench merge all.db laptop.db server.db\n"
      "  tench compare 'machine=laptop;device=cpu' 'machine=server;device=gpu' --db all.db");
  return {app, [flags] { return Merge(*flags); }};
}

}  // namespace tench
