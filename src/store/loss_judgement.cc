// SPDX-License-Identifier: Apache-2.0
#include "store/loss_judgement.h"

#include <unordered_map>
#include <utility>

#include "record/run_flag.h"
#include "record/worker_version.h"

namespace tench {
namespace {

// Losses from this size on may be clamped: Caffe limits the loss of a sample to −ln(FLT_MIN) =
// 87.3, and samples of an untrained ResNet reach twice the mean in inference. Training losses of
// this size are sums over many outputs, which no framework clamps.
constexpr double kClampedForwardLoss = 40;

bool IsCompared(const RunRecord& run) {
  const bool judged_wrong = run.outcome == Outcome::kWrong && run.summary.losses_agree == false;
  return run.study != 0 && (run.outcome == Outcome::kOk || judged_wrong) && run.dropout == false &&
         run.cell.Text(kAxisPrecision) == "f32";
}

std::vector<double> ComparedLosses(const RunRecord& run) {
  const Phase phase = run.cell.phase();
  std::vector<double> losses;
  const RunSummary& summary = run.summary;
  for (const std::optional<double>& loss :
       {summary.first_loss, summary.second_loss, summary.third_loss}) {
    if (!loss || (phase == Phase::kForward && *loss > kClampedForwardLoss)) break;
    losses.push_back(*loss);
    // `caffe time` computes only the loss of the first batch (src/workers/caffe/timed_run.cc).
    if (phase == Phase::kGradient && run.cell.Text(kAxisInput) == "cycled") break;
  }
  return losses;
}

std::string GroupOf(const RunRecord& run) {
  Cell shared = run.cell;
  shared.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
  shared.options.clear();
  return fmt::format("{}\n{}\n{}\n{}", run.study, run.fingerprint, run.solver, shared.Label());
}

LossTrace LossTraceOf(const RunRecord& run) {
  const std::string& worker = run.cell.Text(kAxisWorker);
  LossTrace trace;
  trace.worker = worker.substr(0, worker.find('@'));
  trace.title = trace.worker + " " + ShownVersion(run.worker_version, run.build);
  for (const auto& [name, value] : run.cell.options)
    trace.title += fmt::format(" {}={}", name, value);
  trace.losses = ComparedLosses(run);
  return trace;
}

}  // namespace

void StudyLosses::Add(const RunRecord& run) {
  if (!IsCompared(run)) return;
  LossTrace trace = LossTraceOf(run);
  if (trace.losses.empty()) return;
  Group& group = groups_[GroupOf(run)];
  group.update = run.cell.phase() == Phase::kTrain ? StepUpdate::kUpdates : StepUpdate::kNone;
  group.traces.push_back(std::move(trace));
  group.runs.push_back(run.id);
  group.judged.push_back(run.summary.losses_agree.has_value());
}

std::vector<LossJudgement> StudyLosses::Judge() const {
  std::vector<LossJudgement> judgements;
  for (const auto& [key, group] : groups_) {
    std::vector<std::string> reasons = JudgeLosses(group.traces, group.update);
    for (size_t i = 0; i < reasons.size(); ++i) {
      if (!group.judged[i]) judgements.push_back({group.runs[i], std::move(reasons[i])});
    }
  }
  return judgements;
}

void Apply(const LossJudgement& judgement, RunRecord& run) {
  run.summary.losses_agree = judgement.reason.empty();
  if (judgement.reason.empty()) return;
  run.outcome = Outcome::kWrong;
  run.reason = "losses: " + judgement.reason;
  std::erase_if(run.flags, [](const std::string& flag) {
    return flag == kFlagVerified || flag == kFlagUnverified;
  });
}

Status ForEachJudgedRun(Store& store, std::optional<int64_t> study,
                        const std::function<bool(const RunRecord&)>& each_run) {
  const RunFilter filter{.study = study, .cell_id = {}, .run = {}, .replaced = false};
  const auto each = [&](const RunRecord& run) {
    return HasFlag(run.flags, kFlagProfiled) || each_run(run);
  };
  if (!TENCH_TRY(store.HasUnjudgedLosses())) return store.ForEachRun(filter, each);
  StudyLosses losses;
  TENCH_TRY(store.ForEachRun(filter, [&](const RunRecord& run) {
    losses.Add(run);
    return true;
  }));
  std::unordered_map<int64_t, LossJudgement> judgements;
  for (LossJudgement& judgement : losses.Judge())
    judgements.emplace(judgement.run, std::move(judgement));
  return store.ForEachRun(filter, [&](const RunRecord& run) {
    const auto found = judgements.find(run.id);
    if (found == judgements.end()) return each(run);
    RunRecord judged = run;
    Apply(found->second, judged);
    return each(judged);
  });
}

}  // namespace tench
