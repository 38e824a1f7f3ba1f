// SPDX-License-Identifier: Apache-2.0
#include "cli/side_comparison.h"

#include <filesystem>
#include <optional>
#include <set>

#include "base/text.h"
#include "report/run_selector.h"
#include "report/study_choice.h"
#include "store/loss_judgement.h"
#include "store/store.h"

namespace tench {
namespace {

// One side, with its open file and its resolved study.
struct OpenSide {
  Selection selection;
  Store store;
  std::optional<int64_t> study;
};

Result<std::optional<int64_t>> ResolveStudy(Store& store, const Selection& selection,
                                            const RunSelector& only, const std::string& file) {
  if (selection.study.empty()) return LatestStudy(store, {&selection.runs, &only});
  if (selection.study != "previous") return NamedStudy(store, selection.study, file);
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  if (studies.size() < 2)
    return Failed("{} has {}", file, studies.empty() ? "no study" : "only one study");
  return std::optional(studies[studies.size() - 2].id);
}

Result<OpenSide> Open(const std::string& text, const RunSelector& only,
                      const std::string& default_database) {
  Selection selection = TENCH_TRY(ParseSelection(text));
  if (!selection.database) selection.database = default_database;
  Store store = TENCH_TRY(Store::Open(*selection.database, Store::Mode::kReadOnly));
  const std::optional<int64_t> study =
      TENCH_TRY(ResolveStudy(store, selection, only, selection.database->string()));
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
                                  : fmt::format("; it has runs of {}", fmt::join(workers, ", ")));
}

Status AddRuns(OpenSide& open, const RunSelector& only, Side side, const char* name,
               ComparisonBuilder& builder) {
  std::set<std::string> workers;
  int64_t added = 0;
  TENCH_TRY(ForEachJudgedRun(open.store, open.study, [&](const RunRecord& run) {
    workers.insert(run.cell.Text(kAxisWorker));
    builder.Observe(side, run);
    if (!open.selection.runs.Matches(run) || !only.Matches(run)) return true;
    builder.Add(side, run);
    ++added;
    return true;
  }));
  if (added == 0) return NothingMatches(name, open, workers);
  return Ok();
}

}  // namespace

Result<double> ParseMargin(const std::string& text) {
  const bool percent = text.ends_with('%');
  const double margin =
      TENCH_TRY(ParseReal(Trim(percent ? text.substr(0, text.size() - 1) : text)).In("--margin")) /
      (percent ? 100 : 1);
  if (!(margin >= 0 && margin < 1))
    return Failed("--margin: '{}' is not from 0 to 100 % (0.02 and 2% are the same)", text);
  return margin;
}

Result<Comparison> CompareSides(const SideRequest& request) {
  const RunSelector only = TENCH_TRY(ParseSelector(request.only).In("--only"));
  OpenSide a = TENCH_TRY(Open(request.a, only, request.database).In("A"));
  OpenSide b = TENCH_TRY(Open(request.b, only, request.database).In("B"));
  CompareOptions options;
  options.axes = ComparedAxes(a.selection, b.selection);
  if (options.axes.empty())
    return Failed("A and B are the same: '{}' and '{}'", request.a, request.b);
  std::error_code ignored;
  const bool same_file =
      std::filesystem::equivalent(*a.selection.database, *b.selection.database, ignored);
  options.rule.margin = request.margin;
  options.rule.time = request.time;
  options.rule.source = same_file ? Source::kSameStore : Source::kOtherStore;
  ComparisonBuilder builder(options);
  TENCH_TRY(AddRuns(a, only, Side::kA, "A", builder));
  TENCH_TRY(AddRuns(b, only, Side::kB, "B", builder));
  Comparison comparison = std::move(builder).Finish();
  if (comparison.pairs.empty()) {
    return Failed("no cell of A ('{}') agrees with one of B ('{}') in everything but {}", request.a,
                  request.b, fmt::join(comparison.axes, ", "));
  }
  return comparison;
}

}  // namespace tench
