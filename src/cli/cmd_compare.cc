// SPDX-License-Identifier: Apache-2.0
// `tench compare`: two sides, cell by cell, with verdicts; its exit code is fit for a CI job.
#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output_terminal.h"
#include "report/comparison.h"
#include "report/comparison_text.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {
namespace {

constexpr int kNothingSlower = 0, kSomethingSlower = 1, kAmbiguous = 3;

struct CompareFlags {
  std::string a, b, database = kDefaultDatabase, margin = "1%", of = "shortest";
  std::vector<std::string> only;
  bool json = false;
};

// One side, its file open and its study looked up.
struct OpenSide {
  Selection selection;
  Store store;
  std::optional<int64_t> study;
};

Result<double> ParseMargin(const std::string& text) {
  const bool percent = text.ends_with('%');
  const double margin =
      TENCH_TRY(ParseReal(Trim(percent ? text.substr(0, text.size() - 1) : text)).In("--margin")) /
      (percent ? 100 : 1);
  if (!(margin >= 0 && margin < 1))
    return Failed("--margin: '{}' is not from 0 to 100 % (0.02 and 2% are the same)", text);
  return margin;
}

Result<std::optional<int64_t>> FindStudy(Store& store, const Selection& selection,
                                         const std::string& file) {
  if (selection.study.empty()) return std::optional<int64_t>();
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  if (studies.empty()) return Failed("{} holds no study", file);
  if (selection.study == "latest") return std::optional(studies.back().id);
  if (selection.study == "previous") {
    if (studies.size() < 2) return Failed("{} holds one study; there is none before it", file);
    return std::optional(studies[studies.size() - 2].id);
  }
  const int64_t wanted = TENCH_TRY(ParseInteger(selection.study));
  if (std::none_of(studies.begin(), studies.end(),
                   [&](const StudyRecord& study) { return study.id == wanted; }))
    return Failed("{} has no study {}; its newest is {}", file, wanted, studies.back().id);
  return std::optional(wanted);
}

Result<OpenSide> Open(const std::string& text, const std::string& default_database) {
  Selection selection = TENCH_TRY(ParseSelection(text));
  if (!selection.database) selection.database = default_database;
  Store store = TENCH_TRY(Store::Open(*selection.database, Store::Mode::kReadOnly));
  const std::optional<int64_t> study =
      TENCH_TRY(FindStudy(store, selection, selection.database->string()));
  if (study)
    selection.study = fmt::format("{}", *study);  // "latest" and its number are the same study
  return OpenSide{std::move(selection), std::move(store), study};
}

Error NothingMatches(const char* side, const OpenSide& open, const std::set<std::string>& workers) {
  std::string hint;
  for (const auto& [name, values] : open.selection.runs.cells.terms) {
    if (name != "worker" || values.size() != 1 || workers.contains(values[0])) continue;
    hint = Hint(values[0], std::vector<std::string>(workers.begin(), workers.end()));
  }
  return Failed("{}: no run of {} matches '{}'{}", side, open.selection.database->string(),
                open.selection.text,
                !hint.empty()     ? hint
                : workers.empty() ? ""
                                  : fmt::format("; it holds runs of {}", fmt::join(workers, ", ")));
}

Status AddRuns(OpenSide& open, const RunSelector& only, Side side, const char* name,
               ComparisonBuilder& builder) {
  std::set<std::string> workers;
  int64_t added = 0;
  TENCH_TRY(open.store.ForEachRun({.study = open.study, .cell_id = {}, .run = {}},
                                  [&](const RunRecord& run) {
                                    workers.insert(run.cell.Text(kAxisWorker));
                                    builder.Observe(side, run);
                                    if (!open.selection.runs.Matches(run) || !only.Matches(run))
                                      return true;
                                    builder.Add(side, run);
                                    ++added;
                                    return true;
                                  }));
  if (added == 0) return NothingMatches(name, open, workers);
  return Ok();
}

Result<int> Compare(const CompareFlags& flags) {
  CompareOptions options;
  options.rule.margin = TENCH_TRY(ParseMargin(flags.margin));
  const RunSelector only = TENCH_TRY(ParseSelector(flags.only).In("--only"));
  OpenSide a = TENCH_TRY(Open(flags.a, flags.database).In("A"));
  OpenSide b = TENCH_TRY(Open(flags.b, flags.database).In("B"));
  options.axes = ComparedAxes(a.selection, b.selection);
  if (options.axes.empty()) return Failed("A and B are the same: '{}' and '{}'", flags.a, flags.b);
  std::error_code ignored;
  const bool same_file =
      std::filesystem::equivalent(*a.selection.database, *b.selection.database, ignored);
  options.rule.time = flags.of == "median" ? StepTime::kMedian : StepTime::kShortest;
  options.rule.source = same_file ? Source::kSameStore : Source::kOtherStore;
  ComparisonBuilder builder(options);
  TENCH_TRY(AddRuns(a, only, Side::kA, "A", builder));
  TENCH_TRY(AddRuns(b, only, Side::kB, "B", builder));
  const Comparison comparison = std::move(builder).Finish();
  if (comparison.pairs.empty()) {
    return Failed("no cell of A ('{}') agrees with one of B ('{}') in everything but {}", flags.a,
                  flags.b, fmt::join(comparison.axes, ", "));
  }
  const ComparisonTitles titles{flags.a, flags.b};
  fmt::print("{}", flags.json ? PrintJson(ComparisonToJson(comparison, titles), 1) + "\n"
                              : RenderComparison(comparison, titles, OutputWidth()));
  if (comparison.Count(RatioVerdict::kSlower) > 0) return kSomethingSlower;
  return comparison.Count(RatioVerdict::kAmbiguous) > 0 ? kAmbiguous : kNothingSlower;
}

}  // namespace

Command AddCompareCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("compare", "Two sides, cell by cell: faster, slower, same or ambiguous");
  auto flags = std::make_shared<CompareFlags>();
  app->add_option("A", flags->a,
                  "the side to compare with: a study, a results file, a worker or axis=value")
      ->required()
      ->type_name("");
  app->add_option("B", flags->b, "the side that is judged")->required()->type_name("");
  app->add_option("--db", flags->database,
                  fmt::format("the store, where a side names no file [{}]", kDefaultDatabase))
      ->type_name("");
  app->add_option("--only", flags->only,
                  "of both sides keep the cells that match, e.g. --only network=lenet,mlp")
      ->type_name("")
      ->take_all();
  app->add_option("--margin", flags->margin, "ratios within this are the same, e.g. 2% [1%]")
      ->type_name("");
  app->add_option("--of", flags->of,
                  "which time of a run: of its shortest step, which neighbours disturb least, or "
                  "of its median step [shortest]")
      ->type_name("shortest|median")
      ->check(CLI::IsMember({"shortest", "median"}).description(""));
  app->add_flag("--json", flags->json, "as JSON, with every round");
  app->footer(
      "A side is a study (its number, latest, previous), a results file, a worker, or "
      "axis=value[,value]; besides the "
      "axes there are\n"
      "option.NAME, machine and version. Several are joined by ';'. Cells that agree in all else "
      "form the pairs.\n"
      "  tench compare native torch                                  two workers, in the same "
      "rounds\n"
      "  tench compare torch@2.14 torch@2.15 --only network=resnet50 two versions\n"
      "  tench compare threads=1 threads=2                           thread scaling\n"
      "  tench compare option.layout=nchw option.layout=channels_last\n"
      "  tench compare before.db after.db --margin 2%                two files, for a CI job\n"
      "  tench compare previous latest --db ci.db                    the two newest studies of a "
      "file\n"
      "  tench compare 'machine=laptop;device=cpu' 'machine=server;device=gpu' --db all.db\n"
      "Exit code: 0 nothing is slower, 1 something is slower, 3 nothing is slower but something is "
      "ambiguous, 2 bad "
      "input.");
  return {app, [flags] { return Compare(*flags); }};
}

}  // namespace tench
