// SPDX-License-Identifier: Apache-2.0
#include "run/study/runner.h"

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
#include "run/session/turn_set.h"
#include "run/study/eta.h"
#include "run/study/memory_history.h"
#include "run/study/new_study.h"
#include "run/study/noise_watch.h"
#include "run/study/retry.h"
#include "run/study/study_builds.h"
#include "run/study/study_claim.h"
#include "run/study/study_plan.h"
#include "run/study/study_tuner.h"
#include "run/verify/parity_gate.h"

namespace tench {
namespace {

// The reading after one run serves as the next run's reading before, up to this age.
constexpr int64_t kFreshReadingNs = 100'000'000;

// The state of one call of RunStudy.
class StudyWork {
 public:
  StudyWork(Store& store, WorkerCatalog& workers, const StudyRequest& request, StudyRecord study,
            const HostFacts& host, const WorkerBuilds& builds, RunnerEvents& events, StopToken stop)
      : store_(store),
        workers_(workers),
        request_(request),
        study_(std::move(study)),
        cpu_(host.cpu),
        builds_(builds),
        conditions_(workers, host, builds),
        events_(events),
        stop_(stop),
        eta_(request.cells),
        gate_(store, workers, request.sketch_folders, stop, request.readers),
        tuner_(store, workers, builds, events, stop),
        plan_(store, workers, request, study_, events) {
    for (size_t i = 0; i < request.cells.size(); ++i) index_.emplace(request.cells[i].id, i);
    if (request.sentinel) sentinel_.emplace(AllowedCpus());
  }

  Result<StudyResult> Go() {
    TENCH_TRY(Recall());
    events_.OnStudy(Progress(0));
    StudyResult result;
    result.study = study_.id;
    const bool was_complete = progress_.done == progress_.total;
    TENCH_TRY(tuner_.TuneStudy(request_, study_, finished_, result));
    if (!result.interrupted) TENCH_TRY(Plan(result));
    if (!result.interrupted) TENCH_TRY(RunRounds(result));
    if (request_.repeat && !result.interrupted) TENCH_TRY(RepeatDisturbed(result));
    result.already_complete = was_complete && result.runs == 0;
    result.disturbed = noise_.DisturbedRounds();
    TENCH_TRY(StoreJudgements());
    if (!result.interrupted) TENCH_TRY(StoreLossJudgements(result));
    return result;
  }

 private:
  Status Plan(StudyResult& result) {
    return plan_.Plan(
        finished_,
        [&](size_t cell, const Budget& budget) { return RunPilot(cell, budget, result); },
        result.interrupted);
  }

  // A run that is not stored. nullopt unless it is ok.
  std::optional<RunSummary> RunPilot(size_t index, const Budget& budget, StudyResult& result) {
    result.interrupted |= stop_.stop_requested();
    if (result.interrupted) return std::nullopt;
    RunRequest request = RequestFor(0, index);
    request.planned.budget = budget;
    piloting_ = true;
    RunResult pilot = Make(std::move(request), request_.cells[index]);
    piloting_ = false;
    result.interrupted = pilot.record.outcome == Outcome::kInterrupted;
    if (pilot.record.outcome != Outcome::kOk) return std::nullopt;
    return std::move(pilot.record.summary);
  }

  Status RunRounds(StudyResult& result) {
    for (int64_t round = 0; round < request_.rounds; ++round) {
      std::set<size_t> made;
      for (const size_t cell : RoundOrder(request_.cells.size(), study_.seed, round)) {
        std::vector<size_t> cells = plan_.RunWith(cell, round);
        std::erase_if(cells, [&](size_t each) {
          return finished_.contains({round, request_.cells[each].id}) || !made.insert(each).second;
        });
        if (cells.empty()) continue;
        // A failed run that is retried joins the present repetition of its group's round.
        const int64_t repetition =
            noise_.Repetition(round, ComparedGroup(request_.cells[cell].cell));
        TENCH_TRY(RunTogether(round, cells, repetition, result));
        if (result.interrupted) return Ok();
      }
    }
    return Ok();
  }

  // Cells of one group: in turns if the group is, otherwise one after the other.
  Status RunTogether(int64_t round, std::span<const size_t> cells, int64_t repetition,
                     StudyResult& result) {
    if (cells.size() > 1 && plan_.SlicesOf(cells.front()) > 0)
      return RunSet(round, cells, repetition, result);
    for (const size_t cell : cells) {
      TENCH_TRY(RunUnlessStopped(round, cell, repetition, result));
      if (result.interrupted) break;
    }
    return Ok();
  }

  // The runs of a set are stored when all have ended. Those of a killed sweep are repeated.
  Status RunSet(int64_t round, std::span<const size_t> cells, int64_t repetition,
                StudyResult& result) {
    result.interrupted = stop_.stop_requested();
    if (result.interrupted) return Ok();
    std::vector<RunRequest> requests;
    std::vector<size_t> members;
    const auto store = [&](RunResult run, size_t cell, int64_t begin_ns) -> Status {
      const Outcome outcome = TENCH_TRY(Keep(std::move(run), cell, begin_ns));
      ++result.runs;
      result.interrupted |= outcome == Outcome::kInterrupted;
      return Ok();
    };
    for (const size_t cell : cells) {
      // Its pilot failed; alone, its run fails for the same reason.
      if (!plan_.Pauses(request_.cells[cell])) {
        TENCH_TRY(RunUnlessStopped(round, cell, repetition, result));
        if (result.interrupted) return Ok();
        continue;
      }
      RunRequest request = PlanRun(round, cell, repetition);
      events_.OnStart(Progress(0), request_.cells[cell]);
      const int64_t begin_ns = NowNs();
      if (std::optional<RunResult> refused = Refuse(request, request_.cells[cell])) {
        TENCH_TRY(store(*std::move(refused), cell, begin_ns));
        continue;
      }
      request.turns = true;
      requests.push_back(std::move(request));
      members.push_back(cell);
    }
    TurnSetOptions options;
    options.slices = plan_.SlicesOf(cells.front());
    options.seed = study_.seed + static_cast<uint64_t>(round) + 1;
    if (sentinel_) options.read_sentinel = [this] { return ReadSentinel(NowNs()); };
    std::vector<RunResult> runs = RunInTurns(
        workers_, requests, options,
        [&](size_t run, const RunProgress& progress) {
          events_.OnProgress(Progress(progress.elapsed_ns), request_.cells[members[run]], progress);
        },
        stop_);
    for (size_t i = 0; i < runs.size(); ++i) {
      const int64_t wall_ns = runs[i].record.summary.wall_ns;
      TENCH_TRY(store(std::move(runs[i]), members[i], NowNs() - wall_ns));
    }
    return Ok();
  }

  // Called after the last run, because a study's usual speed depends on all of its runs.
  Status StoreJudgements() {
    return store_.InOneTransaction([&]() -> Status {
      for (const NoiseWatch::Judgement& judgement : noise_.Judgements())
        TENCH_TRY(store_.SetNoise(judgement.run, judgement.slow, judgement.disturbed));
      return Ok();
    });
  }

  // A stored judgement is final: with more rounds, only the new runs are judged.
  Status StoreLossJudgements(StudyResult& result) {
    return store_.InOneTransaction([&]() -> Status {
      for (const LossJudgement& judgement : losses_.Judge()) {
        if (judgement.reason.empty()) {
          TENCH_TRY(store_.SetLossesAgree(judgement.run));
          continue;
        }
        RunRecord record;
        TENCH_TRY(
            store_.ForEachRun({.study = {}, .cell_id = {}, .run = judgement.run, .replaced = true},
                              [&](const RunRecord& run) {
                                record = run;
                                return false;
                              }));
        RecordLosses(judgement, record);
        TENCH_TRY(store_.SetLossesWrong(record));
        ++result.disagreeing;
      }
      return Ok();
    });
  }

  // Repeats may be disturbed too, so this loops until noise_watch.h allows no more.
  Status RepeatDisturbed(StudyResult& result) {
    repeating_ = true;
    for (int64_t before = -1; before != result.repeats && !result.interrupted;) {
      before = result.repeats;
      TENCH_TRY(RepeatOnce(result));
    }
    return Ok();
  }

  Status RepeatOnce(StudyResult& result) {
    struct RepeatedRound {
      int64_t round = 0, repetition = 0;
      std::vector<size_t> cells;
    };
    std::vector<RepeatedRound> rounds;
    int64_t runs = 0;
    for (const NoiseWatch::Repeat& repeat : noise_.Repeats()) {
      if (repeat.round >= request_.rounds) continue;  // not part of this request
      // Another order than the round's own.
      const int64_t order = (repeat.repetition << 32) + repeat.round;
      RepeatedRound& again =
          rounds.emplace_back(RepeatedRound{repeat.round, repeat.repetition, {}});
      for (const size_t place : RoundOrder(repeat.cells.size(), study_.seed, order)) {
        const auto cell = index_.find(repeat.cells[place]);
        if (cell == index_.end()) continue;
        again.cells.push_back(cell->second);
        eta_.AddRemaining(cell->second);
        ++runs;
      }
    }
    progress_.repeats += runs;
    progress_.total += runs;
    for (const RepeatedRound& round : rounds) {
      const int64_t before = result.runs;
      TENCH_TRY(RunTogether(round.round, round.cells, round.repetition, result));
      result.repeats += result.runs - before;
      if (result.interrupted) return Ok();
    }
    return Ok();
  }

  Status RunUnlessStopped(int64_t round, size_t cell, int64_t repetition, StudyResult& result) {
    result.interrupted = stop_.stop_requested();
    if (result.interrupted) return Ok();
    const Outcome outcome = TENCH_TRY(RunOne(round, cell, repetition));
    ++result.runs;
    result.interrupted = outcome == Outcome::kInterrupted;
    return Ok();
  }

  Status Recall() {
    TENCH_TRY(FindFinished());
    for (size_t cell = 0; cell < request_.cells.size(); ++cell) {
      for (int64_t round = 0; round < request_.rounds; ++round) {
        ++progress_.total;
        if (finished_.contains({round, request_.cells[cell].id})) {
          ++progress_.done;
        } else {
          eta_.AddRemaining(cell);
        }
      }
      if (request_.verify) eta_.ExpectParity(cell);
    }
    progress_.study = study_.id;
    progress_.resumed = progress_.done;
    RunFilter filter;
    filter.study = study_.id;
    TENCH_TRY(store_.ForEachRun(filter, [this](const RunRecord& run) {
      Learn(run);
      return true;
    }));
    NoteDisturbed();
    return Ok();
  }

  // A failed run counts as finished unless it is retried: by request, or because a condition that
  // it stored has changed since.
  Status FindFinished() {
    RunFilter filter;
    filter.study = study_.id;
    filter.replaced = false;
    return store_.ForEachRun(filter, [this](const RunRecord& run) {
      if (run.outcome == Outcome::kInterrupted) return true;
      const auto cell = index_.find(run.cell_id);
      const bool requested = cell != index_.end() && run.round < request_.rounds;
      if (run.outcome == Outcome::kOk || !requested ||
          !(request_.retry_failed || conditions_.Changed(run))) {
        finished_.emplace(run.round, run.cell_id);
        memory_.Note(run);
      } else if (!finished_.contains({run.round, run.cell_id})) {
        ++progress_.retried;
      }
      return true;
    });
  }

  void Learn(const RunRecord& run) {
    noise_.Learn(run);
    losses_.Add(run);
    ++attempts_[{run.round, run.cell_id}];
    const auto cell = index_.find(run.cell_id);
    if (cell != index_.end() && run.outcome != Outcome::kInterrupted) {
      eta_.Learn(cell->second, static_cast<double>(run.summary.wall_ns));
    }
  }

  // Repeats come after the last round. Until then, the rounds so far predict them.
  double ExpectedRepeats() const {
    if (!request_.repeat || repeating_) return 0;
    return repeat_share_ * static_cast<double>(progress_.total);
  }

  void NoteDisturbed() {
    progress_.disturbed = noise_.DisturbedRounds();
    repeat_share_ = noise_.ExpectedRepeatShare();
  }

  StudyProgress Progress(int64_t elapsed_ns) {
    eta_.ExpectRepeats(ExpectedRepeats());
    progress_.eta_ns = std::max(0.0, eta_.RemainingNs() - static_cast<double>(elapsed_ns));
    return progress_;
  }

  void Show(const PlannedCell& cell, const RunProgress& run) {
    if (!piloting_) return events_.OnProgress(Progress(run.elapsed_ns), cell, run);
    RunProgress pilot = run;
    pilot.stage = "planning steps (" + run.stage + ")";
    events_.OnProgress(Progress(0), cell, pilot);
  }

  RunResult Make(RunRequest request, const PlannedCell& cell) {
    if (std::optional<RunResult> refused = Refuse(request, cell)) return *std::move(refused);
    return RunBetweenReadings(request, [&](const RunProgress& run) { Show(cell, run); });
  }

  // The record of a run that must not be made: after a smaller batch ran out of memory, or of a
  // worker that fails parity.
  std::optional<RunResult> Refuse(RunRequest& request, const PlannedCell& cell) {
    if (const auto batch = memory_.SmallerFailure(cell.cell)) return SkippedRun(request, *batch);
    if (request_.verify) {
      const int64_t begin_ns = NowNs();
      const ParityGate::Finding parity =
          gate_.Check(ExecutedCell(request), [&](const std::string& doing) {
            RunProgress verifying;
            verifying.stage = "verifying (" + doing + ")";
            Show(cell, verifying);
          });
      parity_ns_ = NowNs() - begin_ns;
      eta_.LearnParity(index_.at(cell.id), static_cast<double>(parity_ns_));
      if (parity.state == ParityGate::State::kWrong)
        return WrongRun(request, parity.reason, parity.worker_version);
      if (parity.state == ParityGate::State::kVerified)
        request.verified_version = parity.worker_version;
    }
    return std::nullopt;
  }

  // Returns the last reading if it was taken at `since_ns` or later, otherwise takes a new one.
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
    // Noise cannot affect a run that never started a worker.
    if (!result.record.summary.hello_ns) return result;
    const SentinelReading after = ReadSentinel(NowNs());
    RecordSentinel({before, after}, result.record);
    return result;
  }

  RunRequest RequestFor(int64_t round, size_t index) const {
    const PlannedCell& cell = request_.cells[index];
    RunRequest request{cell, study_.id, round, 0, study_.machine, study_.machine_id};
    request.cpu_model = cpu_.model;
    request.isa = IsaOf(cpu_);
    request.build = builds_.at(cell.cell.Text(kAxisWorker));
    request.readers = request_.readers;
    request.tuning = tuner_.Find(cell.id);
    return request;
  }

  RunRequest PlanRun(int64_t round, size_t index, int64_t repetition) {
    const PlannedCell& cell = request_.cells[index];
    RunRequest request = RequestFor(round, index);
    request.repetition = repetition;
    if (const std::optional<int64_t> steps = plan_.StepsOf(index))
      request.planned.budget.fixed_steps = *steps;
    if (const auto before = attempts_.find({round, cell.id}); before != attempts_.end())
      request.attempt = before->second;
    progress_.round = round;
    parity_ns_ = 0;
    return request;
  }

  Result<Outcome> RunOne(int64_t round, size_t index, int64_t repetition) {
    const PlannedCell& cell = request_.cells[index];
    RunRequest request = PlanRun(round, index, repetition);
    events_.OnStart(Progress(0), cell);
    const int64_t begin_ns = NowNs();
    return Keep(Make(std::move(request), cell), index, begin_ns);
  }

  // Stores a run and learns from it.
  Result<Outcome> Keep(RunResult result, size_t index, int64_t begin_ns) {
    const PlannedCell& cell = request_.cells[index];
    const std::string& worker = cell.cell.Text(kAxisWorker);
    RunRecord& record = result.record;
    // Checked before the run is stored, because a run of two mixed builds is not a result.
    if (Status unchanged = CheckUnchanged(workers_, worker); !unchanged)
      return std::move(unchanged).error().In(fmt::format("study {} stops", study_.id));
    if (record.outcome != Outcome::kOk) record.conditions = conditions_.For(record);
    Result<int64_t> id = store_.AddRun(record, result.series);
    if (!id) {
      return std::move(id).error().In(
          fmt::format("study {} stops: the run of {} could not be stored (runs before it are safe)",
                      study_.id, cell.cell.Label()));
    }
    record.id = *id;
    memory_.Note(record);
    if (record.outcome != Outcome::kInterrupted) {
      ++progress_.done;
      eta_.RemoveRemaining(index);
    }
    Learn(record);
    eta_.LearnOverhead(
        static_cast<double>(NowNs() - begin_ns - parity_ns_ - record.summary.wall_ns));
    progress_.last_disturbed = record.outcome == Outcome::kOk && noise_.Disturbed(record);
    NoteDisturbed();
    events_.OnFinish(Progress(0), record);
    // The run was interrupted, but not by a stop request: the machine's resources are exhausted.
    if (record.outcome == Outcome::kInterrupted && !stop_.stop_requested())
      return Failed("study {} stops: {}", study_.id, record.reason);
    return record.outcome;
  }

  Store& store_;
  WorkerCatalog& workers_;
  const StudyRequest& request_;
  StudyRecord study_;
  const CpuFacts cpu_;
  const WorkerBuilds& builds_;
  const RetryConditions conditions_;
  RunnerEvents& events_;
  const StopToken stop_;
  StudyProgress progress_;
  Eta eta_;
  int64_t parity_ns_ = 0;   // of the present run
  bool repeating_ = false;  // all rounds are done
  bool piloting_ = false;   // the present run is a pilot
  MemoryHistory memory_;
  NoiseWatch noise_;
  double repeat_share_ = 0;  // of the planned time, as expected
  StudyLosses losses_;
  std::optional<Sentinel> sentinel_;
  SentinelReading reading_;
  int64_t reading_ns_ = std::numeric_limits<int64_t>::min();  // time of `reading_`
  ParityGate gate_;
  StudyTuner tuner_;
  std::unordered_map<std::string, size_t> index_;
  StudyPlan plan_;
  FinishedRuns finished_;
  std::map<std::pair<int64_t, std::string>, int64_t> attempts_;
};

}  // namespace

Result<StudyResult> RunStudy(Store& store, WorkerCatalog& workers, const StudyRequest& request,
                             RunnerEvents& events, StopToken stop) {
  const int64_t begin_ns = NowNs();
  const HostFacts host = ReadHost(Instruments::OfThisMachine().nvml.get());
  const Result<WorkerBuilds> builds = BuildsOf(
      workers, request.cells, [&](const std::string& worker) { events.OnIdentify(worker); }, stop);
  if (!builds.ok()) {
    StudyResult stopped;
    stopped.interrupted = true;
    return stopped;
  }
  std::string why_new;
  const StudyRecord study = TENCH_TRY(FindOrBeginStudy(store, request, host, *builds, why_new));
  if (!why_new.empty()) events.OnNewStudy(why_new);
  const StudyClaim claim = TENCH_TRY(StudyClaim::Take(store, study.id));
  const auto cells = static_cast<int64_t>(request.cells.size());
  const bool joined = std::any_of(builds->begin(), builds->end(), [&](const auto& build) {
    const auto known = study.builds.find(build.first);
    return known == study.builds.end() || (known->second.empty() && !build.second.empty());
  });
  if (request.rounds > study.rounds || cells > study.cells || joined) {
    TENCH_TRY(store.ExtendStudy(study.id, std::max(request.rounds, study.rounds),
                                std::max(cells, study.cells), *builds));
  }
  StudyResult result =
      TENCH_TRY(StudyWork(store, workers, request, study, host, *builds, events, stop).Go());
  result.wall_ns = NowNs() - begin_ns;
  return result;
}

}  // namespace tench
