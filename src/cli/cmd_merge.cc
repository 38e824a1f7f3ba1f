// SPDX-License-Identifier: Apache-2.0
// `tench merge`: results files of several machines, or of several times, as one.
#include <filesystem>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "store/merge.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

struct MergeFlags {
  std::string output;
  std::vector<std::string> inputs;
};

struct Input {
  std::string path;
  Store store;
};

std::string Plural(int64_t count, const char* noun, const char* plural) {
  return fmt::format("{} {}", count, count == 1 ? noun : plural);
}

// All of them are opened before anything is written.
Result<std::vector<Input>> OpenInputs(const MergeFlags& flags) {
  std::vector<Input> inputs;
  for (const std::string& path : flags.inputs) {
    std::error_code ignored;
    if (fs::equivalent(path, flags.output, ignored))
      return Failed("{}: a file cannot be merged into itself", path);
    inputs.push_back({path, TENCH_TRY(Store::Open(path, Store::Mode::kReadOnly))});
  }
  return inputs;
}

Result<int> Merge(const MergeFlags& flags) {
  std::vector<Input> inputs = TENCH_TRY(OpenInputs(flags));
  std::error_code ignored;
  const bool is_new = !fs::exists(flags.output, ignored);
  Result<Store> output = Store::Open(flags.output, Store::Mode::kReadWrite);
  if (!output) return std::move(output).error();
  const Status merged = output->InOneTransaction([&]() -> Status {
    for (Input& input : inputs) {
      const MergeCounts counts = TENCH_TRY(MergeStore(*output, input.store).In(input.path));
      fmt::print(stderr, "{}: {} and {} added, {} there already\n", input.path,
                 Plural(counts.studies, "study", "studies"), Plural(counts.runs, "run", "runs"),
                 counts.known_runs);
      if (counts.conflicts > 0) {
        fmt::print(stderr, "{}: {} there already with another result; {} kept as it was\n",
                   input.path, Plural(counts.conflicts, "run is", "runs are"), flags.output);
      }
    }
    return Ok();
  });
  if (!merged.ok()) {
    output = Failed("closed");
    // A file that was made for nothing would look like results.
    for (const char* suffix : {"", "-wal", "-shm"}) {
      if (is_new) fs::remove(flags.output + suffix, ignored);
    }
    return merged.error();
  }
  return 0;
}

}  // namespace

Command AddMergeCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("merge", "Results files of several machines as one");
  auto flags = std::make_shared<MergeFlags>();
  app->add_option("OUT", flags->output, "the file to merge into; made if it is not there")
      ->required()
      ->type_name("");
  app->add_option("IN", flags->inputs, "the files to take from; they are not changed")
      ->required()
      ->type_name("");
  app->footer(
      "Studies and runs keep their machine and their identity: merging a file twice adds nothing "
      "the second time. All "
      "files are merged, or none.\n"
      "  tench merge all.db laptop.db server.db\n"
      "  tench compare 'machine=laptop;device=cpu' 'machine=server;device=gpu' --db all.db");
  return {app, [flags] { return Merge(*flags); }};
}

}  // namespace tench
