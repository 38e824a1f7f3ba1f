// SPDX-License-Identifier: Apache-2.0
#include "cli/bundle.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "cli/archive.h"
#include "report/csv.h"
#include "report/run_listing.h"
#include "store/merge.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBundleRoot = "tench-bundle/";
constexpr const char* kBundleDatabase = "tench-bundle/results.db";

std::string ReadmeText(const BundleRequest& request, const std::vector<StudyRecord>& studies) {
  std::string text = fmt::format(
      "Results of tench {}, for reading and for repeating.\n"
      "\n"
      "  tench results {}       the ranking\n"
      "  tench report {}        charts and tables as one HTML file\n"
      "  tench runs --db {}     every run; steps and samples likewise\n"
      "\n"
      "results.db    SQLite: all runs with every step time and loss, and the parity results\n"
      "runs.csv      one record per run\n"
      "suite.yaml    the suite of the study\n"
      "machine.json  facts about the machine when the study began\n"
      "commands.sh   the sweep, and the command of every cell\n"
      "pins/         the pinned versions of Debian packages and Python wheels\n"
      "logs/         the end of the worker's output, by run\n"
      "\n",
      request.version, request.output.filename().string(), request.output.filename().string(),
      request.output.filename().string());
  for (const StudyRecord& study : studies)
    text += fmt::format("study {}: {} on {}, begun {}, {} cells x {} rounds, tench {}, rules {}\n",
                        study.id, study.suite, study.machine, study.started_utc, study.cells,
                        study.rounds, study.tench_version, study.rules);
  return text;
}

std::string SweepCommand(const StudyRecord& study, const fs::path& database) {
  std::string command = "tench sweep " + (study.suite_text.empty() ? ShellQuote(study.suite)
                                                                   : std::string("suite.yaml"));
  for (const std::string& term : Split(study.filter, ';')) {
    if (term.empty()) continue;
    command += term == "installed" ? " --installed" : " --only " + ShellQuote(term);
  }
  return command + fmt::format(" --rounds {} --db {}", study.rounds,
                               ShellQuote(database.filename().string()));
}

std::string Pretty(const std::string& json) {
  const Result<Json> parsed = ParseJson(json, "machine");
  return (parsed.ok() ? PrintJson(*parsed, 2) : json) + "\n";
}

// "suite.yaml" for the first study, "suite-7.yaml" for study 7 of several.
std::string NameFor(const std::string& stem, const std::string& extension, const StudyRecord& study,
                    bool several) {
  return several ? fmt::format("{}{}-{}{}", kBundleRoot, stem, study.id, extension)
                 : kBundleRoot + stem + extension;
}

Status AddPins(const fs::path& folder, ArchiveWriter& archive) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(
           folder, fs::directory_options::follow_directory_symlink, ignored)) {
    if (entry.path().extension() == ".txt" && entry.is_regular_file(ignored))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    TENCH_TRY(
        archive.AddFile(kBundleRoot + ("pins" / file.lexically_relative(folder)).string(), file));
  return Ok();
}

Status AddStudies(const std::vector<StudyRecord>& studies, ArchiveWriter& archive) {
  const bool several = studies.size() > 1;
  for (const StudyRecord& study : studies) {
    if (!study.suite_text.empty())
      TENCH_TRY(archive.AddText(NameFor("suite", ".yaml", study, several), study.suite_text));
    TENCH_TRY(
        archive.AddText(NameFor("machine", ".json", study, several), Pretty(study.host_json)));
  }
  return Ok();
}

}  // namespace

Result<BundleCounts> WriteBundle(Store& store, const BundleRequest& request,
                                 const std::function<void(int64_t runs)>& progress) {
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-bundle-"));
  const fs::path copy = folder.path() / "results.db";
  std::vector<StudyRecord> studies;
  {
    Store into = TENCH_TRY(Store::Open(copy, Store::Mode::kReadWrite));
    const Status merged = into.InOneTransaction([&]() -> Status {
      TENCH_TRY(MergeStore(into, store, request.study));
      return Ok();
    });
    if (!merged.ok()) return merged.error();
    studies = TENCH_TRY(into.Studies());
  }
  // A closed store has no write-ahead log left beside it.
  ArchiveWriter archive = TENCH_TRY(ArchiveWriter::Create(request.output));
  TENCH_TRY(archive.AddText(std::string(kBundleRoot) + "README.txt", ReadmeText(request, studies)));
  TENCH_TRY(AddStudies(studies, archive));
  TENCH_TRY(AddPins(request.pins, archive));
  Store copied = TENCH_TRY(Store::Open(copy, Store::Mode::kReadOnly));
  BundleCounts counts;
  std::string csv, commands = "#!/bin/sh\n";
  for (const StudyRecord& study : studies) commands += SweepCommand(study, request.database) + "\n";
  std::set<std::string> known;
  Status added = Ok();
  TENCH_TRY(copied.ForEachRun({}, [&](const RunRecord& run) {
    const Json row = RunRow(run);
    if (csv.empty()) csv = CsvNames(row);
    csv += CsvRecord(row);
    if (known.insert(run.reproducer).second) commands += run.reproducer + "\n";
    const Result<RunSeries> series = copied.Series(run.id);
    if (series.ok() && !series->log.empty()) {
      added = archive.AddText(fmt::format("{}logs/{}.txt", kBundleRoot, run.id), series->log);
      ++counts.logs;
    }
    progress(++counts.runs);
    return added.ok();
  }));
  if (!added.ok()) return added.error();
  TENCH_TRY(archive.AddText(std::string(kBundleRoot) + "runs.csv", csv));
  TENCH_TRY(archive.AddText(std::string(kBundleRoot) + "commands.sh", commands));
  TENCH_TRY(archive.AddFile(kBundleDatabase, copy));
  TENCH_TRY(archive.Finish());
  return counts;
}

Result<ResultsFile> ResultsFile::Open(const fs::path& path) {
  if (!IsArchive(path))
    return ResultsFile{std::nullopt, TENCH_TRY(Store::Open(path, Store::Mode::kReadOnly))};
  TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-bundle-"));
  const fs::path database = folder.path() / "results.db";
  TENCH_TRY(ExtractFile(path, kBundleDatabase, database));
  Store store = TENCH_TRY(Store::Open(database, Store::Mode::kReadOnly).In(path.string()));
  return ResultsFile{std::move(folder), std::move(store)};
}

}  // namespace tench
