// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_gate.h"

#include <optional>

#include "cli/exit_code.h"
#include "cli/output_terminal.h"
#include "cli/side_comparison.h"
#include "report/run_selector.h"

namespace tench {
namespace {

// The study before `study` of the same suite, machine and filter.
Result<std::optional<int64_t>> PreviousStudy(Store& store, int64_t study) {
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  const StudyRecord* own = nullptr;
  for (const StudyRecord& one : studies) {
    if (one.id == study) own = &one;
  }
  Check(own != nullptr, "the study of a sweep is not stored");
  std::optional<int64_t> previous;
  for (const StudyRecord& one : studies) {
    if (one.id < study && one.suite == own->suite && one.machine_id == own->machine_id &&
        one.filter == own->filter)
      previous = one.id;
  }
  return previous;
}

}  // namespace

void SweepGate::AddTo(CLI::App& app) {
  flags_.AddTo(app, "none");
  app.add_option("--baseline", baseline_,
                 "what slower means: a side as in tench compare, e.g. a worker of this study, "
                 "another study or file [the study before]")
      ->group("Gate")
      ->type_name("");
  app.add_option("--margin", margin_, "treat ratios within this margin as the same, e.g. 2% [1%]")
      ->group("Gate")
      ->type_name("");
}

Status SweepGate::Check() const {
  TENCH_TRY(flags_.Findings());
  TENCH_TRY(flags_.CheckOutput());
  TENCH_TRY(ParseMargin(margin_));
  if (!baseline_.empty()) TENCH_TRY(ParseSelection(baseline_).In("--baseline"));
  return Ok();
}

Result<std::vector<Gate>> SweepGate::Gates(Store& store, const std::string& database, int64_t study,
                                           const FailOn& fail_on) const {
  std::vector<Gate> gates;
  RankOptions options;
  options.studies = {study};
  gates.push_back(GateOf(TENCH_TRY(Rank(store, options)), fmt::format("runs of study {}", study)));
  if (!fail_on.contains(GateFinding::kSlower) && !fail_on.contains(GateFinding::kAmbiguous) &&
      baseline_.empty())
    return gates;
  SideRequest request;
  request.database = database;
  request.margin = TENCH_TRY(ParseMargin(margin_));
  request.b = fmt::format("study={}", study);
  if (baseline_.empty()) {
    const std::optional<int64_t> previous = TENCH_TRY(PreviousStudy(store, study));
    if (!previous) {
      fmt::print(stderr,
                 "gate: study {} is the first of its suite on this machine; nothing to "
                 "compare with\n",
                 study);
      return gates;
    }
    request.a = fmt::format("study={}", *previous);
  } else {
    const Selection side = TENCH_TRY(ParseSelection(baseline_).In("--baseline"));
    request.a = side.database || !side.study.empty() ? baseline_
                                                     : fmt::format("study={};{}", study, baseline_);
  }
  const ComparisonTitles titles{request.a, request.b};
  const Comparison comparison = TENCH_TRY(CompareSides(request).In("gate"));
  fmt::print("{}", RenderComparison(comparison, titles, OutputWidth()));
  gates.push_back(GateOf(comparison, titles));
  return gates;
}

Result<int> SweepGate::Judge(Store& store, const std::string& database, int64_t study) const {
  const FailOn fail_on = TENCH_TRY(flags_.Findings());
  if (!flags_.given() && baseline_.empty()) return kExitOk;
  const std::vector<Gate> gates = TENCH_TRY(Gates(store, database, study, fail_on));
  fmt::print(stderr, "{}\n", GateLine(gates, fail_on));
  return flags_.Conclude(gates, fail_on);
}

}  // namespace tench
