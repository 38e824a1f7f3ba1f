// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a study: every cell of a matrix once per round, in shuffled order, each run stored before
// the next begins. In a study in turns, the cells of a compared group run together
// (run/session/turn_set.h) where turn_planner.h allows it. Before the first round the cells of the
// tuned track are tuned (cell_tuner.h), and pilots plan the number of steps of each compared group
// (step_groups.h); both are stored with the study. Rounds of groups with a disturbed run are
// repeated at the end (noise_watch.h). After the last run, the losses of the workers are compared
// (store/loss_judgement.h). A study that was stopped or killed is resumed, unless a worker was
// rebuilt or the measuring rules changed: then a new study begins (study_builds.h). Its failed runs
// are retried where their conditions changed (retry.h). Not aware of the terminal, which is behind
// RunnerEvents.
//
// Thread safety: none; for the main thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "plan/matrix.h"
#include "run/session/run_cell.h"
#include "run/study/cell_tuner.h"
#include "store/store.h"

namespace tench {

struct StudyRequest {
  std::string suite, suite_fingerprint, filter;
  std::string suite_text = {};  // stored with the study
  std::vector<PlannedCell> cells;
  int64_t rounds = 1;
  bool fresh = false;         // --new: begin a study even if one could be resumed
  bool retry_failed = false;  // retry all failed runs, not only those of other conditions (retry.h)
  std::string machine;        // "" = the host's name
  bool sentinel = false;      // time the noise sentinel before and after every run
  bool repeat = false;        // repeat disturbed runs at the end
  bool peak = false;          // measure the machine's peak FLOP/s when the study begins
  StudyPairing pairing = StudyPairing::kRounds;
  bool verify = false;  // a cell whose worker fails parity is `wrong` and is not measured
  std::vector<std::filesystem::path> sketch_folders;  // with the reference's sketches
  NetworkReaders readers = {};                        // parse network files
};

struct StudyProgress {
  int64_t study = 0;
  int64_t done = 0, total = 0;  // runs, all rounds
  int64_t resumed = 0;          // part of `done` from earlier calls
  int64_t retried = 0;          // failed runs of earlier calls that run again
  int64_t round = 0;
  int64_t disturbed = 0;        // rounds of cells that have no undisturbed run
  int64_t repeats = 0;          // part of `total` that repeats disturbed runs
  bool last_disturbed = false;  // the last finished run was disturbed
  double eta_ns = 0;            // 0 = unknown
};

// The tuning that precedes round 1.
struct StudyTuning {
  size_t cells = 0;       // of the tuned track that are not tuned yet
  size_t done = 0;        // of them
  int64_t budget_ns = 0;  // of all of them
  // Of the study's planned time, as far as its runs have a time limit; 0 = unknown.
  double share = 0;
  std::string cell;  // under way: "torch lenet train b64"
  TuningProgress trial;
  int64_t elapsed_ns = 0;  // since the study's tuning began
};

class RunnerEvents {
 public:
  virtual ~RunnerEvents() = default;
  // Called for each worker before a study is selected, because identifying its build may take
  // seconds.
  virtual void OnIdentify(const std::string& worker) = 0;
  // The reason why an existing study of this command is not resumed.
  virtual void OnNewStudy(const std::string& reason) = 0;
  virtual void OnStudy(const StudyProgress& progress) = 0;  // once, before the first run
  // Before the first trial, during each, and after the last (done == cells). Not called if no cell
  // is to be tuned.
  virtual void OnTuning(const StudyTuning& tuning) = 0;
  // A compared group that cannot be measured in turns, although the study is.
  virtual void OnRounds(const std::string& group, const std::string& reason) = 0;
  // In turns, all runs of a group's round start before the first of them finishes.
  virtual void OnStart(const StudyProgress& progress, const PlannedCell& cell) = 0;
  virtual void OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                          const RunProgress& run) = 0;
  virtual void OnFinish(const StudyProgress& progress, const RunRecord& run) = 0;
};

struct StudyResult {
  int64_t study = 0;        // 0 = stopped before the start
  int64_t runs = 0;         // executed by this call
  int64_t repeats = 0;      // part of `runs` that repeats disturbed runs
  int64_t disturbed = 0;    // rounds of cells left without an undisturbed run
  int64_t tuned = 0;        // cells tuned by this call
  int64_t tune_ns = 0;      // and the time of it
  int64_t wall_ns = 0;      // of this call
  int64_t disagreeing = 0;  // runs found `wrong` by this call, because their losses disagree
  bool interrupted = false;
  bool already_complete = false;
};

// Larger batches of a cell that ran out of memory are not tried: they are stored as out_of_memory
// with a reason that names the smaller one.
Result<StudyResult> RunStudy(Store& store, WorkerCatalog& workers, const StudyRequest& request,
                             RunnerEvents& events, StopToken stop);

}  // namespace tench
