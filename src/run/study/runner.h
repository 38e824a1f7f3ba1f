// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a study: every cell of a matrix once per round, in shuffled order, each run stored before
// the next begins. Disturbed runs are repeated at the end (noise_watch.h). A study that was stopped
// or killed resumes where it ended. Not aware of the terminal, which is behind RunnerEvents.
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
#include "store/store.h"

namespace tench {

struct StudyRequest {
  std::string suite, suite_fingerprint, filter;
  std::vector<PlannedCell> cells;
  int64_t rounds = 1;
  bool fresh = false;     // --new: a study of its own even if one could go on
  std::string machine;    // "" = the host's name
  bool sentinel = false;  // time the noise sentinel before and after every run
  bool repeat = false;    // at the end, runs that the sentinel found disturbed
  bool verify = false;    // a cell whose worker fails parity is `wrong` and is not measured
  std::vector<std::filesystem::path> sketch_folders;  // of the reference's committed answers
  NetworkReaders readers = {};                        // of networks' files
};

struct StudyProgress {
  int64_t study = 0;
  int64_t done = 0, total = 0;  // runs, all rounds
  int64_t resumed = 0;          // of `done`, from before
  int64_t round = 0;
  int64_t disturbed = 0;        // rounds of cells that have no undisturbed run
  int64_t repeats = 0;          // of `total`, repetitions of disturbed runs
  bool last_disturbed = false;  // the run that just finished
  double eta_ns = 0;            // 0 = unknown yet
};

class RunnerEvents {
 public:
  virtual ~RunnerEvents() = default;
  virtual void OnStudy(const StudyProgress& progress) = 0;  // once, before the first run
  virtual void OnStart(const StudyProgress& progress, const PlannedCell& cell) = 0;
  virtual void OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                          const RunProgress& run) = 0;
  virtual void OnFinish(const StudyProgress& progress, const RunRecord& run) = 0;
};

struct StudyResult {
  int64_t study = 0;
  int64_t runs = 0;       // made now
  int64_t repeats = 0;    // of them, because the first was disturbed
  int64_t disturbed = 0;  // rounds of cells left without an undisturbed run
  bool interrupted = false;
  bool already_complete = false;
};

// Larger batches of a cell that ran out of memory are not tried: they are stored as out_of_memory
// with a reason that names the smaller one.
Result<StudyResult> RunStudy(Store& store, WorkerCatalog& workers, const StudyRequest& request,
                             RunnerEvents& events, StopToken stop);

}  // namespace tench
