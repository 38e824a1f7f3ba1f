// SPDX-License-Identifier: Apache-2.0
#include "run/study/runner.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/clock.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "machine/host.h"
#include "machine/sentinel.h"
#include "run/session/instruments.h"
#include "run/session/run_recorder.h"
#include "run/study/eta.h"
#include "run/study/memory_history.h"
#include "run/study/noise_watch.h"
#include "run/verify/parity_gate.h"

namespace tench {
namespace {

// Gives the study back however the work on it ends.
class Claim {
 public:
  static Result<Claim> Take(Store& store, int64_t study) {
    TENCH_TRY(store.ClaimStudy(study));
    return Claim(store, study);
  }
  Claim(Claim&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), study_(other.study_) {}
  Claim& operator=(Claim&&) = delete;
  ~Claim() {
    // A claim that cannot be given back is freed by the end of this process.
    if (store_) (void)store_->ReleaseStudy(study_);
  }

 private:
  Claim(Store& store, int64_t study) : store_(&store), study_(study) {}
  Store* store_;
  int64_t study_;
};

Result<StudyRecord> BeginStudy(Store& store, const StudyRequest& request, const HostFacts& host) {
  StudyRecord study;
  study.suite = request.suite;
  study.suite_fingerprint = request.suite_fingerprint;
  study.machine = request.machine.empty() ? host.machine : request.machine;
  study.machine_id = host.machine_id;
  study.host_json = PrintJson(HostToJson(host));
  study.tench_version = TENCH_VERSION;
  study.filter = request.filter;
  study.started_utc = UtcNow();
  // Stored, so that a resumed study keeps its order; anything that differs from study to study will
  // do. SQLite's integers have a sign.
  study.seed = Hash64(fmt::format("{} {} {} {}", study.suite_fingerprint, study.started_utc,
                                  NowNs(), getpid())) >>
               1;
  study.rounds = request.rounds;
  study.cells = static_cast<int64_t>(request.cells.size());
  study.id = TENCH_TRY(store.AddStudy(study));
  return study;
}

Result<StudyRecord> FindOrBeginStudy(Store& store, const StudyRequest& request,
                                     const HostFacts& host) {
  if (request.fresh) return BeginStudy(store, request, host);
  // Looking and beginning are one transaction: two sweeps started at once must meet in one study,
  // not begin two.
  StudyRecord study;
  const Status begun = store.InOneTransaction([&]() -> Status {
    const auto found = TENCH_TRY(
        store.FindStudy(request.suite, request.suite_fingerprint, host.machine_id, request.filter));
    if (found) {
      study = *found;
    } else {
      study = TENCH_TRY(BeginStudy(store, request, host));
    }
    return Ok();
  });
  if (!begun.ok()) return begun.error();
  return study;
}

// The reading after one run is as good before the next, if that follows at once.
constexpr int64_t kFreshReadingNs = 100'000'000;

// One call of RunStudy: what is done, what is left, and what the earlier runs taught.
class StudyWork {
 public:
  StudyWork(Store& store, WorkerCatalog& workers, const StudyRequest& request, StudyRecord study,
            RunnerEvents& events, StopToken stop)
      : store_(store),
        workers_(workers),
        request_(request),
        study_(std::move(study)),
        events_(events),
        stop_(stop),
        eta_(request.cells.size()),
        gate_(store, workers, request.sketch_folders, stop, request.readers) {
    for (size_t i = 0; i < request.cells.size(); ++i) index_.emplace(request.cells[i].id, i);
    if (request.sentinel) sentinel_.emplace(AllowedCpus());
  }

  Result<StudyResult> Go() {
    TENCH_TRY(Recall());
    events_.OnStudy(Progress(0));
    StudyResult result;
    result.study = study_.id;
    const bool was_complete = progress_.done == progress_.total;
    TENCH_TRY(RunRounds(result));
    if (request_.repeat && !result.interrupted) TENCH_TRY(RepeatDisturbed(result));
    result.already_complete = was_complete && result.runs == 0;
    result.disturbed = noise_.DisturbedRounds();
    TENCH_TRY(StoreJudgements());
    return result;
  }

 private:
  Status RunRounds(StudyResult& result) {
    for (int64_t round = 0; round < request_.rounds; ++round) {
      for (const size_t cell : RoundOrder(request_.cells.size(), study_.seed, round)) {
        if (finished_.contains({round, request_.cells[cell].id})) continue;
        TENCH_TRY(RunUnlessStopped(round, cell, result));
        if (result.interrupted) return Ok();
      }
    }
    return Ok();
  }

  // Judged when no run is left to come: the usual of a study is known from all of its runs.
  Status StoreJudgements() {
    return store_.InOneTransaction([&]() -> Status {
      for (const NoiseWatch::Judgement& judgement : noise_.Judgements())
        TENCH_TRY(store_.SetNoise(judgement.run, judgement.slow, judgement.disturbed));
      return Ok();
    });
  }

  // A repeat may be slow as well; there is an end to them (noise_watch.h).
  Status RepeatDisturbed(StudyResult& result) {
    for (int64_t before = -1; before != result.repeats && !result.interrupted;) {
      before = result.repeats;
      TENCH_TRY(RepeatOnce(result));
    }
    return Ok();
  }

  Status RepeatOnce(StudyResult& result) {
    std::vector<std::pair<int64_t, size_t>> repeats;
    for (const auto& [round, id] :
         noise_.Repeats(request_.rounds * static_cast<int64_t>(request_.cells.size()))) {
      const auto cell = index_.find(id);
      if (cell == index_.end() || round >= request_.rounds)
        continue;  // of the study, but not asked for now
      repeats.emplace_back(round, cell->second);
      eta_.AddRemaining(cell->second);
    }
    progress_.repeats += static_cast<int64_t>(repeats.size());
    progress_.total += static_cast<int64_t>(repeats.size());
    for (const auto& [round, cell] : repeats) {
      TENCH_TRY(RunUnlessStopped(round, cell, result));
      if (result.interrupted) return Ok();
      ++result.repeats;
    }
    return Ok();
  }

  Status RunUnlessStopped(int64_t round, size_t cell, StudyResult& result) {
    result.interrupted = stop_.stop_requested();
    if (result.interrupted) return Ok();
    const Outcome outcome = TENCH_TRY(RunOne(round, cell));
    ++result.runs;
    result.interrupted = outcome == Outcome::kInterrupted;
    return Ok();
  }

  Status Recall() {
    finished_ = TENCH_TRY(store_.FinishedRuns(study_.id));
    for (size_t cell = 0; cell < request_.cells.size(); ++cell) {
      for (int64_t round = 0; round < request_.rounds; ++round) {
        ++progress_.total;
        if (finished_.contains({round, request_.cells[cell].id})) {
          ++progress_.done;
        } else {
          eta_.AddRemaining(cell);
        }
      }
    }
    progress_.study = study_.id;
    progress_.resumed = progress_.done;
    RunFilter filter;
    filter.study = study_.id;
    TENCH_TRY(store_.ForEachRun(filter, [this](const RunRecord& run) {
      Learn(run);
      return true;
    }));
    progress_.disturbed = noise_.DisturbedRounds();
    return Ok();
  }

  void Learn(const RunRecord& run) {
    memory_.Note(run);
    noise_.Learn(run);
    ++attempts_[{run.round, run.cell_id}];
    const auto cell = index_.find(run.cell_id);
    if (cell != index_.end() && run.outcome != Outcome::kInterrupted) {
      eta_.Learn(cell->second, static_cast<double>(run.summary.wall_ns));
    }
  }

  StudyProgress Progress(int64_t elapsed_ns) {
    progress_.eta_ns = std::max(0.0, eta_.RemainingNs() - static_cast<double>(elapsed_ns));
    return progress_;
  }

  RunResult Make(RunRequest request, const PlannedCell& cell) {
    if (const auto batch = memory_.SmallerFailure(cell.cell)) return SkippedRun(request, *batch);
    const auto progress = [&](const RunProgress& run) {
      events_.OnProgress(Progress(run.elapsed_ns), cell, run);
    };
    if (request_.verify) {
      const ParityGate::Finding parity = gate_.Check(cell, [&](const std::string& doing) {
        RunProgress verifying;
        verifying.stage = "verifying (" + doing + ")";
        progress(verifying);
      });
      if (parity.state == ParityGate::State::kWrong)
        return WrongRun(request, parity.reason, parity.worker_version);
      if (parity.state == ParityGate::State::kVerified)
        request.verified_version = parity.worker_version;
    }
    return RunBetweenReadings(request, progress);
  }

  // The last reading, if it was taken at `since_ns` or later; otherwise a new one.
  SentinelReading ReadSentinel(int64_t since_ns) {
    if (reading_ns_ < since_ns) {
      reading_ = sentinel_->Read();
      reading_ns_ = NowNs();
    }
    return reading_;
  }

  RunResult RunBetweenReadings(const RunRequest& request,
                               const std::function<void(const RunProgress&)>& progress) {
    if (!sentinel_) return RunCell(workers_, request, progress, stop_);
    const SentinelReading before = ReadSentinel(NowNs() - kFreshReadingNs);
    RunResult result = RunCell(workers_, request, progress, stop_);
    // A run that never started a worker was not disturbed.
    if (!result.record.summary.hello_ns) return result;
    const SentinelReading after = ReadSentinel(NowNs());
    RecordSentinel({before, after}, result.record);
    return result;
  }

  Result<Outcome> RunOne(int64_t round, size_t index) {
    const PlannedCell& cell = request_.cells[index];
    RunRequest request{cell, study_.id, round, 0, study_.machine, study_.machine_id};
    request.readers = request_.readers;
    if (const auto before = attempts_.find({round, cell.id}); before != attempts_.end())
      request.attempt = before->second;
    progress_.round = round;
    events_.OnStart(Progress(0), cell);
    RunResult result = Make(std::move(request), cell);
    RunRecord& record = result.record;
    Result<int64_t> id = store_.AddRun(record, result.series);
    if (!id) {
      return std::move(id).error().In(
          fmt::format("study {} stops: the run of {} could not be stored (runs before it are safe)",
                      study_.id, cell.cell.Label()));
    }
    record.id = *id;
    if (record.outcome != Outcome::kInterrupted) {
      ++progress_.done;
      eta_.RemoveRemaining(index);
    }
    Learn(record);
    progress_.last_disturbed = record.outcome == Outcome::kOk && noise_.Disturbed(record);
    progress_.disturbed = noise_.DisturbedRounds();
    events_.OnFinish(Progress(0), record);
    // Interrupted, but by nobody: the machine has no room to go on.
    if (record.outcome == Outcome::kInterrupted && !stop_.stop_requested())
      return Failed("study {} stops: {}", study_.id, record.reason);
    return record.outcome;
  }

  Store& store_;
  WorkerCatalog& workers_;
  const StudyRequest& request_;
  StudyRecord study_;
  RunnerEvents& events_;
  const StopToken stop_;
  StudyProgress progress_;
  Eta eta_;
  MemoryHistory memory_;
  NoiseWatch noise_;
  std::optional<Sentinel> sentinel_;
  SentinelReading reading_;
  int64_t reading_ns_ = std::numeric_limits<int64_t>::min();  // when it was taken
  ParityGate gate_;
  std::unordered_map<std::string, size_t> index_;
  std::set<std::pair<int64_t, std::string>> finished_;
  std::map<std::pair<int64_t, std::string>, int64_t> attempts_;
};

}  // namespace

Result<StudyResult> RunStudy(Store& store, WorkerCatalog& workers, const StudyRequest& request,
                             RunnerEvents& events, StopToken stop) {
  const HostFacts host = ReadHost(Instruments::OfThisMachine().nvml.get());
  const StudyRecord study = TENCH_TRY(FindOrBeginStudy(store, request, host));
  const Claim claim = TENCH_TRY(Claim::Take(store, study.id));
  const auto cells = static_cast<int64_t>(request.cells.size());
  if (request.rounds > study.rounds || cells > study.cells) {
    TENCH_TRY(store.ExtendStudy(study.id, std::max(request.rounds, study.rounds),
                                std::max(cells, study.cells)));
  }
  return StudyWork(store, workers, request, study, events, stop).Go();
}

}  // namespace tench
