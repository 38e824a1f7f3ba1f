// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_progress.h"

#include "base/plural.h"
#include "base/text.h"
#include "report/record_json.h"

namespace tench {
namespace {

constexpr int kBarWidth = 20;

std::string Short(const Cell& cell) {
  return fmt::format("{} {} {} b{}", cell.Text(kAxisWorker), cell.Text(kAxisNetwork),
                     Name(cell.phase()), cell.Integer(kAxisBatch));
}

std::string ResultText(const RunRecord& run) {
  if (run.outcome != Outcome::kOk) return Name(run.outcome);
  const auto image_ns = ImageNs(run);
  return image_ns ? HumanNs(*image_ns) + "/image" : "ok";
}

std::string Head(const StudyProgress& progress) {
  const double fraction =
      progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total)
                         : 1;
  std::string head =
      fmt::format("{} {}/{}", ProgressBar(fraction, kBarWidth), progress.done, progress.total);
  if (progress.disturbed > 0) head += fmt::format(", {} disturbed", progress.disturbed);
  if (progress.repeats > 0) head += fmt::format(", repeating {}", progress.repeats);
  if (progress.eta_ns > 0) head += ", " + HumanNs(progress.eta_ns) + " left";
  return head;
}

}  // namespace

void SweepProgress::OnIdentify(const std::string& worker) {
  line_.Show("identifying the build of " + worker);
}

void SweepProgress::OnNewStudy(const std::string& reason) { line_.Print(reason); }

void SweepProgress::OnStudy(const StudyProgress& progress) {
  if (progress.done == progress.total) return;
  std::string text = fmt::format("study {}: {}", progress.study, Plural(progress.total, "run"));
  if (progress.resumed > 0)
    text += fmt::format(", {} of them already done; resuming", progress.resumed);
  if (progress.retried > 0) text += fmt::format("; retrying {} failed", progress.retried);
  line_.Print(text);
}

void SweepProgress::OnTuning(const StudyTuning& tuning) {
  if (tuning.cell.empty()) {
    const std::string share =
        tuning.share > 0 ? fmt::format(", about {:.0f} % of the study", 100 * tuning.share) : "";
    line_.Print(fmt::format("tuning {} before round 1: at most {}{}", Plural(tuning.cells, "cell"),
                            HumanNs(static_cast<double>(tuning.budget_ns)), share));
    return;
  }
  const double fraction = static_cast<double>(tuning.done) / static_cast<double>(tuning.cells);
  line_.Show(fmt::format("{} tuning {}/{} | {}, trial {} of at most {}: {}",
                         ProgressBar(fraction, kBarWidth), tuning.done, tuning.cells, tuning.cell,
                         tuning.trial.trial, tuning.trial.trials, tuning.trial.candidate));
}

void SweepProgress::OnRounds(const std::string& group, const std::string& reason) {
  line_.Print(fmt::format("{}: measured in rounds, because {}", group, reason));
}

void SweepProgress::OnStart(const StudyProgress& progress, const PlannedCell& cell) {
  line_.Show(fmt::format("{} | {} | last: {}", Head(progress), Short(cell.cell),
                         last_.empty() ? "-" : last_));
}

void SweepProgress::OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                               const RunProgress& run) {
  const std::string steps = run.steps > 0 ? fmt::format(" {} steps", run.steps) : " " + run.stage;
  line_.Show(fmt::format("{} | {}{} | last: {}", Head(progress), Short(cell.cell), steps,
                         last_.empty() ? "-" : last_));
}

void SweepProgress::OnFinish(const StudyProgress& progress, const RunRecord& run) {
  ++outcomes_[run.outcome];
  last_ = Short(run.cell) + " " + ResultText(run) + (progress.last_disturbed ? " (disturbed)" : "");
  const bool failed = run.outcome != Outcome::kOk;
  if (line_.terminal() && !failed) return;
  const bool tell = failed && !run.reason.empty() && told_.insert(run.reason).second;
  line_.Print(fmt::format("[{}/{}] round {} {}{}", progress.done, progress.total,
                          progress.round + 1, last_, tell ? ": " + run.reason : ""));
}

}  // namespace tench
