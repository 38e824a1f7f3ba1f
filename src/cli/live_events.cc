// SPDX-License-Identifier: Apache-2.0
#include "cli/live_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"

namespace tench {
namespace {

constexpr int64_t kPeriodNs = 1'000'000'000;
constexpr size_t kMaxLosses = 128;

LiveRun RunOf(const PlannedCell& planned) {
  const Cell& cell = planned.cell;
  LiveRun run;
  run.worker = cell.Text(kAxisWorker);
  run.network = cell.Text(kAxisNetwork);
  run.phase = Name(cell.phase());
  run.label = cell.Label();
  run.batch = cell.Integer(kAxisBatch);
  return run;
}

}  // namespace

void LiveEvents::Write(const StudyProgress& progress, std::optional<LiveRun> run) {
  if (!file_) return;
  LiveProgress live;
  live.study = progress.study;
  live.done = progress.done;
  live.total = progress.total;
  live.round = progress.round;
  live.rounds = rounds_;
  live.disturbed = progress.disturbed;
  live.repeats = progress.repeats;
  live.eta_ns = progress.eta_ns;
  live.run = std::move(run);
  if (!file_->Write(live).ok()) file_.reset();
  written_ns_ = NowNs();
}

void LiveEvents::OnStudy(const StudyProgress& progress) {
  if (Result<LiveProgressFile> file = LiveProgressFile::Create(database_, progress.study);
      file.ok())
    file_.emplace(*std::move(file));
  begun_ = progress;
  Write(progress, std::nullopt);
  next_.OnStudy(progress);
}

// The cell under tuning is shown as a run whose stage names the trial.
void LiveEvents::OnTuning(const StudyTuning& tuning) {
  const std::string stage =
      fmt::format("tuning {} of {}, trial {}", tuning.done + 1, tuning.cells, tuning.trial.trial);
  if (file_ && !tuning.cell.empty() && stage != stage_) {
    LiveRun run;
    run.label = tuning.cell;
    stage_ = run.stage = stage;
    Write(begun_, std::move(run));
  }
  next_.OnTuning(tuning);
}

void LiveEvents::OnStart(const StudyProgress& progress, const PlannedCell& cell) {
  LiveRun run = RunOf(cell);
  stage_ = run.stage = "starting";
  losses_.clear();
  loss_stride_ = 1;
  Write(progress, std::move(run));
  next_.OnStart(progress, cell);
}

void LiveEvents::OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                            const RunProgress& now) {
  if (file_) NoteLoss(now);
  if (file_ && (now.stage != stage_ || NowNs() - written_ns_ >= kPeriodNs)) {
    LiveRun run = RunOf(cell);
    stage_ = run.stage = now.stage;
    run.steps = now.steps;
    run.last_step_ns = now.last_step_ns;
    run.rss_bytes = now.rss_bytes;
    run.losses = losses_;
    if (now.steps > 0 && losses_.back().step != now.steps)
      run.losses.push_back({now.steps, now.loss});
    Write(progress, std::move(run));
  }
  next_.OnProgress(progress, cell, now);
}

// One point per event, then every second, fourth, … event: a long run keeps its early losses.
void LiveEvents::NoteLoss(const RunProgress& now) {
  if (now.steps == 0 || (!losses_.empty() && now.steps < losses_.back().step + loss_stride_))
    return;
  losses_.push_back({now.steps, now.loss});
  if (losses_.size() < kMaxLosses) return;
  size_t kept = 0;
  for (size_t i = 0; i < losses_.size(); i += 2) losses_[kept++] = losses_[i];
  losses_.resize(kept);
  loss_stride_ = 2 * std::max<int64_t>(1, (losses_.back().step - losses_.front().step) /
                                              static_cast<int64_t>(2 * kept));
}

void LiveEvents::OnFinish(const StudyProgress& progress, const RunRecord& run) {
  Write(progress, std::nullopt);
  next_.OnFinish(progress, run);
}

}  // namespace tench
