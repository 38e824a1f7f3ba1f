// SPDX-License-Identifier: Apache-2.0
#include "run/study/cell_tuner.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "data/data_set.h"
#include "run/session/run_cell.h"
#include "run/study/tuning_search.h"

namespace tench {
namespace {

constexpr int64_t kLeastWindowNs = 100'000'000, kLargestWindowNs = 1'000'000'000;
constexpr int64_t kWindowShare = 20;  // of the budget, per trial
constexpr int64_t kMaxWarmup = 2;

// A short window, so that many candidates fit into the budget. A step that is longer than the
// window is timed once: the budget is wall time, and more steps would leave the slower workers with
// fewer candidates. A warm-up step is needed in any case: many frameworks allocate or compile in
// the first step.
Budget TrialBudget(const Budget& usual, int64_t budget_ns) {
  Budget budget;
  budget.warmup_steps = std::clamp<int64_t>(usual.warmup_steps, 1, kMaxWarmup);
  budget.min_steps = 1;
  budget.min_time_ns = budget.time_limit_ns =
      std::clamp(budget_ns / kWindowShare, kLeastWindowNs, kLargestWindowNs);
  return budget;
}

}  // namespace

std::vector<CellSettings> CandidatesFor(const Description& description, const Graph& network,
                                        Phase phase) {
  std::vector<CellSettings> found;
  for (const TuningCandidate& candidate : description.tuning) {
    const auto has_op = [&](const std::string& op) {
      return std::ranges::any_of(network.layers,
                                 [&](const Layer& layer) { return OpName(layer.op) == op; });
    };
    const bool acts =
        candidate.phases.empty() || std::ranges::count(candidate.phases, Name(phase)) > 0;
    if (!acts || (!candidate.ops.empty() && std::ranges::none_of(candidate.ops, has_op))) continue;
    CellSettings settings = candidate.options;
    for (const auto& [name, value] : candidate.environment)
      settings[fmt::format("{}{}", kEnvironmentPrefix, name)] = value;
    found.push_back(std::move(settings));
  }
  return found;
}

TuningRecord CellTuner::Tune(const RunRequest& request,
                             const std::function<void(const TuningProgress&)>& progress) {
  const PlannedCell& planned = request.planned;
  const Cell& cell = planned.cell;
  const auto begin = [&](TuningRecord tuning) {
    tuning.study = request.study;
    tuning.cell_id = planned.id;
    tuning.budget_ns = planned.limits.tune_budget_ns;
    tuning.build = request.build;
    tuning.tuned_utc = UtcNow();
    return tuning;
  };
  const auto [name, version] = WorkerName::Of(cell.Text(kAxisWorker));
  const Result<const WorkerEntry*> entry = workers_.Find(name);
  if (!entry.ok() || !(*entry)->installed()) return begin({});
  const Result<Description> description = workers_.Describe(**entry, version);
  const Result<Graph> network = LoadNetwork(cell.Text(kAxisNetwork), cell.Text(kAxisData),
                                            cell.Integer(kAxisLength), request.readers);
  if (!description.ok() || !network.ok()) return begin({});

  const std::vector<CellSettings> candidates = CandidatesFor(*description, *network, cell.phase());
  TuningProgress state;
  state.trials = candidates.size() + 1 + kConfirmingTrials;
  const RunTrial make = [&](const TrialPlan& plan) {
    ++state.trial;
    state.candidate = plan.candidate;
    TuningRecord settings;
    settings.settings = plan.settings;
    RunRequest trial = request;
    trial.tuning = &settings;
    trial.profile = false;
    trial.planned.budget = TrialBudget(planned.budget, planned.limits.tune_budget_ns);
    // The default's trial must end: the cell's own limit. The others may use what is left.
    if (!plan.is_default)
      trial.planned.limits.timeout_ns =
          std::min(planned.limits.timeout_ns, std::max<int64_t>(plan.remaining_ns, 1));
    // The other half is for the start and the timed steps.
    trial.search_ns = std::max<int64_t>(plan.remaining_ns / 2, 1);
    RunResult run = RunCell(
        workers_, trial,
        [&](const RunProgress& now) {
          state.run = now;
          if (progress) progress(state);
        },
        stop_);
    const RunRecord& record = run.record;
    return TrialEnd{record.outcome, record.reason, record.summary.step_ns_min,
                    std::move(run.frozen)};
  };
  SystemClock clock;
  return begin(SearchSettings(cell, candidates, planned.limits.tune_budget_ns, make, clock, stop_));
}

}  // namespace tench
