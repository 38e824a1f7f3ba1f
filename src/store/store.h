// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of all studies in one SQLite file (WAL mode, synchronous=FULL). A run is written in
// one transaction with its summary and its series; after AddRun returns, a power cut cannot lose
// it. The schema has a version and migrations; a newer file is refused. The axis columns come from
// the axis table.
//
// Invariants: runs are only added; of a stored run, only the judgements of its noise and of its
// losses change.
// Thread safety: one Store belongs to one thread. Several processes may use one file: writes are
// short and wait for each other.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "store/record.h"

namespace tench {

struct RunFilter {
  std::optional<int64_t> study;
  std::optional<std::string> cell_id;
  std::optional<int64_t> run;
  // Also failed attempts that a later attempt at the same round replaced.
  bool replaced = true;
};

class Store {
 public:
  enum class Mode { kReadOnly, kReadWrite };

  // kReadWrite creates the file and its parent folder if needed; kReadOnly needs an existing file.
  // Errors distinguish foreign, truncated, damaged, newer and unwritable files.
  static Result<Store> Open(const std::filesystem::path& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Result<int64_t> AddStudy(const StudyRecord& study);
  // Raises the planned rounds or cells of a resumed study, and adds the builds of workers that it
  // has not measured yet or that were not installed before.
  Status ExtendStudy(int64_t study, int64_t rounds, int64_t cells, const WorkerBuilds& builds = {});
  // Adds or replaces the planned steps of one compared group.
  Status SetPlannedSteps(int64_t study, const std::string& group, int64_t steps);
  // Replaces the plan. Only the process with the claim on the study calls it.
  Status SetTurnPlan(int64_t study, const TurnPlan& plan);
  Result<std::vector<StudyRecord>> Studies();  // oldest first
  // The newest study with this suite, fingerprint, machine and filter.
  Result<std::optional<StudyRecord>> FindStudy(const std::string& suite,
                                               const std::string& fingerprint,
                                               const std::string& machine_id,
                                               const std::string& filter);

  // One process at a time works on a study. Fails, naming the other process, if it is alive. A
  // claim ends with ReleaseStudy or with the process.
  Status ClaimStudy(int64_t study);
  Status ReleaseStudy(int64_t study);

  // A study has each (round, cell, attempt) once. If that attempt is stored as `interrupted`, the
  // run becomes the next attempt.
  Result<int64_t> AddRun(const RunRecord& run, const RunSeries& series);
  // Stores the noise judgement of a run, which depends on later runs.
  Status SetNoise(int64_t run, bool slow, bool disturbed);
  // Stores the judgement of a run's losses (loss_judgement.h): that they agree with those of other
  // workers, or the outcome, reason, flags and `losses_agree` of a run whose losses disagree.
  Status SetLossesAgree(int64_t run);
  Status SetLossesWrong(const RunRecord& run);
  // Whether a run of a study may need a judgement of its losses and has none.
  Result<bool> HasUnjudgedLosses();
  // Executes `work` in one transaction: all its writes become durable together or none does, and no
  // other process writes in between. For importing many runs, or for a read and a write that depend
  // on each other.
  Status InOneTransaction(const std::function<Status()>& work);
  // (round, cell id) of every run with an outcome other than `interrupted`.
  Result<std::set<std::pair<int64_t, std::string>>> FinishedRuns(int64_t study);

  // One parity record per key; a later result replaces an earlier one.
  Status SetParity(const ParityRecord& parity);
  // nullopt for a key without build or CPU model, which matches no result.
  Result<std::optional<ParityRecord>> FindParity(const ParityKey& key);
  Result<std::vector<ParityRecord>> Parities();  // ordered by their keys

  // A study has one tuning per cell; a second one is an error.
  Status AddTuning(const TuningRecord& tuning);
  Result<std::vector<TuningRecord>> Tunings(int64_t study);  // ordered by their cell ids

  // Without series; oldest first. Ends early if `each` returns false.
  Status ForEachRun(const RunFilter& filter, const std::function<bool(const RunRecord&)>& each);
  Result<RunSeries> Series(int64_t run);
  // The loss of one step, counted from 1 including warm-up; nullopt if the run lacks it.
  Result<std::optional<double>> LossAt(int64_t run, int64_t step);

 private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
