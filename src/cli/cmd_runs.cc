// SPDX-License-Identifier: Apache-2.0
// `tench runs`, `tench steps` and `tench samples`: every stored number of single runs.
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "cli/bundle.h"
#include "cli/command.h"
#include "cli/output_terminal.h"
#include "cli/study_flags.h"
#include "report/csv.h"
#include "report/record_json.h"
#include "report/run_listing.h"
#include "report/run_text.h"

namespace tench {
namespace {

struct FormatFlags {
  bool csv = false, json = false, wide = false;

  void AddTo(CLI::App& app) {
    CLI::Option* as_csv = app.add_flag("--csv", csv, "print CSV with exact values");
    app.add_flag("--json", json, "print JSON with exact values")->excludes(as_csv);
    app.add_flag("--wide", wide, "print all columns, even if they exceed the terminal");
  }
  size_t width() const { return wide ? 0 : OutputWidth(); }
};

void Print(TextTable table, const FormatFlags& format) {
  const std::vector<std::string> omitted = table.Fit(format.width());
  fmt::print("{}{}", table.Render(format.width()),
             WrapText(OmittedLine(omitted), format.width(), 2));
}

std::string JsonText(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

void PrintRows(const std::vector<Json>& rows, const FormatFlags& format) {
  if (format.json) {
    fmt::print("{}\n", JsonText(Json(rows)));
    return;
  }
  if (!rows.empty()) fmt::print("{}", CsvNames(rows.front()));
  for (const Json& row : rows) fmt::print("{}", CsvRecord(row));
}

Result<RunRecord> FindRun(Store& store, const std::string& text, const std::string& database) {
  RunFilter filter;
  if (text != "latest") filter.run = TENCH_TRY(ParseInteger(text).In("RUN"));
  std::optional<RunRecord> found;
  TENCH_TRY(store.ForEachRun(filter, [&](const RunRecord& run) {
    found = run;
    return true;
  }));
  if (found) return *found;
  if (text == "latest") return Failed("{} has no runs", database);
  return Failed("{} has no run {} (tench runs lists them)", database, text);
}

// ---- runs ----

struct RunsFlags {
  StudyFlags study;
  FormatFlags format;
  std::string run, outcome;
  bool log = false;
};

Result<int> ShowRun(const RunsFlags& flags, Store& store) {
  const RunRecord run = TENCH_TRY(FindRun(store, flags.run, flags.study.database()));
  if (flags.log) {
    fmt::print("{}", TENCH_TRY(store.Series(run.id)).log);
    return 0;
  }
  if (flags.format.csv) {
    PrintRows(std::vector<Json>(1, RunRow(run)), flags.format);
  } else if (flags.format.json) {
    const RunSeries series = TENCH_TRY(store.Series(run.id));
    fmt::print("{}\n", JsonText(RecordToJson(run, &series)));
  } else {
    fmt::print("{}", RunText(run, true, flags.format.width()));
  }
  return 0;
}

Result<int> Runs(const RunsFlags& flags) {
  Store store = TENCH_TRY(flags.study.Open());
  if (!flags.run.empty()) return ShowRun(flags, store);
  if (flags.log) return Failed("--log needs the number of a run: tench runs RUN --log");
  std::optional<Outcome> outcome;
  if (!flags.outcome.empty()) outcome = TENCH_TRY(ParseOutcome(flags.outcome).In("--outcome"));
  RunFilter filter;
  filter.study = TENCH_TRY(flags.study.Study(store));
  const RunSelector only = TENCH_TRY(flags.study.Filter());
  TextTable table = RunTable();
  int64_t count = 0;
  TENCH_TRY(store.ForEachRun(filter, [&](const RunRecord& run) {
    if (!only.Matches(run) || (outcome && run.outcome != *outcome)) return true;
    const bool first = count++ == 0;
    if (flags.format.json) {
      fmt::print("{}{}", first ? "[\n" : ",\n", PrintJson(RecordToJson(run, nullptr)));
    } else if (flags.format.csv) {
      if (first) fmt::print("{}", CsvNames(RunRow(run)));
      fmt::print("{}", CsvRecord(RunRow(run)));
    } else {
      table.AddRow(RunCells(run));
    }
    return true;
  }));
  if (flags.format.json) {
    fmt::print("{}", count > 0 ? "\n]\n" : "[]\n");
  } else if (!flags.format.csv) {
    if (count > 0) Print(std::move(table), flags.format);
    fmt::print("{} run{}\n", count, count == 1 ? "" : "s");
  }
  return 0;
}

// ---- steps and samples ----

struct SeriesFlags {
  std::string run, database = kDefaultDatabase;
  FormatFlags format;

  void AddTo(CLI::App& app) {
    app.add_option("RUN", run, "number of a run (tench runs), or latest")
        ->required()
        ->type_name("");
    app.add_option("--db", database, fmt::format("results file [{}]", kDefaultDatabase))
        ->type_name("");
    format.AddTo(app);
  }
};

// One line that identifies the run, above a table.
void PrintTitle(const RunRecord& run) {
  fmt::print("run {}: {}, {}\n", run.id, run.cell.Label(), Name(run.outcome));
}

Result<int> ShowSteps(const SeriesFlags& flags) {
  ResultsFile file = TENCH_TRY(ResultsFile::Open(flags.database));
  const RunRecord run = TENCH_TRY(FindRun(file.store, flags.run, flags.database));
  const RunSeries series = TENCH_TRY(file.store.Series(run.id));
  const SliceSet set = TENCH_TRY(SliceSet::Decode(run.summary.slices).In(flags.database));
  if (flags.format.csv || flags.format.json) {
    PrintRows(StepRows(series, set), flags.format);
    return 0;
  }
  PrintTitle(run);
  Print(StepTable(series, set), flags.format);
  return 0;
}

Result<int> ShowSamples(const SeriesFlags& flags) {
  ResultsFile file = TENCH_TRY(ResultsFile::Open(flags.database));
  const RunRecord run = TENCH_TRY(FindRun(file.store, flags.run, flags.database));
  const RunSeries series = TENCH_TRY(file.store.Series(run.id));
  SampleSeries samples;
  if (!series.samples.empty())
    samples = TENCH_TRY(SampleSeries::Decode(series.samples)
                            .In(fmt::format("{}: the samples of run {}", flags.database, run.id)));
  if (flags.format.csv || flags.format.json) {
    PrintRows(SampleRows(samples), flags.format);
    return 0;
  }
  PrintTitle(run);
  Print(SampleTable(samples), flags.format);
  return 0;
}

}  // namespace

Command AddRunsCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("runs", "List the stored runs, or show one of them");
  auto flags = std::make_shared<RunsFlags>();
  app->add_option("RUN", flags->run, "show only this run: a number, or latest")->type_name("");
  flags->study.AddTo(*app);
  app->add_option("--outcome", flags->outcome, "list only runs of this outcome, e.g. crashed")
      ->type_name("");
  flags->format.AddTo(*app);
  app->add_flag("--log", flags->log, "print the end of the worker's output of one run");
  app->footer(
      "With --json, one run includes its steps, losses and log.\n"
      "  tench runs --only network=lenet            all runs of LeNet\n"
      "  tench runs --csv > runs.csv                every stored value, one record per run\n"
      "  tench runs 17                              one run in detail\n"
      "  tench steps 17; tench samples 17           its steps; its memory and CPU time over time");
  return {app, [flags] { return Runs(*flags); }};
}

Command AddStepsCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("steps", "Show every step of a run: time, input time, loss");
  auto flags = std::make_shared<SeriesFlags>();
  flags->AddTo(*app);
  return {app, [flags] { return ShowSteps(*flags); }};
}

Command AddSamplesCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("samples", "Show the sampled memory, CPU time and GPU use of a run");
  auto flags = std::make_shared<SeriesFlags>();
  flags->AddTo(*app);
  return {app, [flags] { return ShowSamples(*flags); }};
}

}  // namespace tench
