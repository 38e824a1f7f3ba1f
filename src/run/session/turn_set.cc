// SPDX-License-Identifier: Apache-2.0
#include "run/session/turn_set.h"

#include <memory>
#include <utility>

#include "base/clock.h"
#include "plan/matrix.h"
#include "run/session/cell_run.h"
#include "stats/slice.h"
#include "stats/stats.h"

namespace tench {
namespace {

constexpr int64_t kWarmupSteps = 1;

class TurnSet {
 public:
  TurnSet(std::span<const RunRequest> requests, const TurnSetOptions& options,
          const TurnProgress& progress, StopToken stop)
      : requests_(requests), options_(options), progress_(progress), stop_(stop) {
    members_.resize(requests.size());
  }

  std::vector<RunResult> Go(const WorkerCatalog& workers) {
    for (size_t i = 0; i < members_.size(); ++i) Start(workers, i);
    ReadSentinel();
    for (int64_t pass = 0; pass < options_.slices && !stop_.stop_requested(); ++pass) {
      for (const size_t i : RoundOrder(members_.size(), options_.seed, pass)) MakeSlice(i, pass);
      ReadSentinel();
    }
    for (size_t i = 0; i < members_.size(); ++i) End(i);
    std::vector<RunResult> results;
    for (Member& member : members_) results.push_back(*std::move(member.result));
    return results;
  }

 private:
  struct Member {
    std::unique_ptr<CellRun> run;
    WorkerSession* session = nullptr;  // null: it has ended
    std::optional<RunResult> result;
  };

  std::function<void(const RunProgress&)> ProgressOf(size_t i) const {
    return [this, i](const RunProgress& progress) {
      if (progress_) progress_(i, progress);
    };
  }

  // Builds the network and makes the warm-up steps, while the workers before it are paused.
  void Start(const WorkerCatalog& workers, size_t i) {
    Member& member = members_[i];
    member.run = std::make_unique<CellRun>(requests_[i]);
    member.session = member.run->Start(workers, stop_);
    if (member.session == nullptr) return Finish(i);
    for (size_t before = 0; before < i; ++before) {
      if (members_[before].session != nullptr) members_[before].session->Spare(*member.session);
    }
    Watch(i);
  }

  void MakeSlice(size_t i, int64_t pass) {
    Member& member = members_[i];
    if (member.session == nullptr || stop_.stop_requested()) return;
    const int64_t steps = requests_[i].planned.budget.fixed_steps;
    const auto until = [&](int64_t passes) { return steps * passes / options_.slices; };
    member.session->Go({kWarmupSteps, until(pass + 1) - until(pass)});
    Watch(i);
  }

  void Watch(size_t i) {
    if (!members_[i].session->WatchTurn(ProgressOf(i), stop_)) Finish(i);
  }

  void End(size_t i) {
    WorkerSession* session = members_[i].session;
    if (session == nullptr) return;
    if (stop_.stop_requested()) {
      session->Abandon();
    } else {
      session->EndTurns();
    }
    session->Watch(ProgressOf(i), stop_);
    Finish(i);
  }

  void ReadSentinel() {
    readings_.push_back(options_.read_sentinel ? options_.read_sentinel() : SentinelReading{});
  }

  void Finish(size_t i) {
    Member& member = members_[i];
    member.session = nullptr;
    member.result = member.run->Finish();
    const WorkerSession* session = member.run->session();
    if (session == nullptr) return;
    RunSummary& summary = member.result->record.summary;
    const SliceSet slices = SlicesOf(*session, requests_[i].planned.budget.warmup_steps);
    summary.slices = slices.Encode();
    if (!slices.slices.empty())
      RecordSentinel(
          {slices.slices.front().noise.sentinel.before, slices.slices.back().noise.sentinel.after},
          member.result->record);
  }

  // Slice p lies between the readings p and p + 1. A worker that fails has no complete last slice,
  // and is finished before the reading after it.
  SliceSet SlicesOf(const WorkerSession& session, int64_t warmup_steps) const {
    SliceSet set{id_, warmup_steps, {}};
    const std::vector<int64_t>& step_ns = session.protocol().series().step_ns;
    size_t first = 0;
    for (const Turn& made : session.protocol().slices()) {
      const size_t pass = set.slices.size();
      if (pass + 1 >= readings_.size()) break;
      const auto steps = std::span(step_ns).subspan(first, static_cast<size_t>(made.steps));
      first += steps.size();
      const WithheldShares& withheld = session.slices_withheld()[pass];
      TimedSlice slice;
      slice.warmup_steps = made.warmup_steps;
      slice.steps = made.steps;
      slice.noise = {{readings_[pass], readings_[pass + 1]}, withheld.steal, withheld.throttled};
      slice.median_ns = Median({steps.begin(), steps.end()});
      slice.stretches = StretchProfile::Of(steps);
      set.slices.push_back(std::move(slice));
    }
    return set;
  }

  const std::span<const RunRequest> requests_;
  const TurnSetOptions& options_;
  const TurnProgress& progress_;
  const StopToken stop_;
  const int64_t id_ = NowNs();
  std::vector<Member> members_;
  std::vector<SentinelReading> readings_;
};

}  // namespace

std::vector<RunResult> RunInTurns(WorkerCatalog& workers, std::span<const RunRequest> requests,
                                  const TurnSetOptions& options, const TurnProgress& progress,
                                  StopToken stop) {
  return TurnSet(requests, options, progress, stop).Go(workers);
}

}  // namespace tench
