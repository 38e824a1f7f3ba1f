// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input, progress and output of one run. Passive values; not aware of how a run is executed or
// stored.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/data_set.h"
#include "plan/matrix.h"
#include "protocol/message.h"
#include "record/profile_row.h"
#include "record/trace_event.h"
#include "store/record.h"

namespace tench {

// Name prefixes of the temporary folders of runs and of parity trials.
inline constexpr const char* kRunFolderPrefix = "tench-run-";
inline constexpr const char* kParityFolderPrefix = "tench-parity-";

struct RunRequest {
  PlannedCell planned;
  int64_t study = 0, round = 0, attempt = 0;
  std::string machine, machine_id;
  std::string cpu_model = {}, isa = {};
  std::string build = {};  // of the worker; "" = not installed
  // The cell's tuning, whose settings the run takes; null on the untuned track.
  const TuningRecord* tuning = nullptr;
  int64_t search_ns = 0;  // limit of a search during the build; 0 = the worker's own
  bool profile = false;   // measure each kernel; steps become a little slower
  std::optional<TraceRequest> trace = {};  // needs `profile`; names no file
  NetworkReaders readers = {};             // parse network files
  // Adds job fields that no axis names: weights, a solver's schedule.
  std::function<Status(Job&)> amend = {};
  std::string amendment = {};  // `amend` as flags, for the reproducer
  // The worker version that passed parity on this cell; "" = any, nullopt = not checked.
  std::optional<std::string> verified_version = {};
  int64_t repetition = 0;  // of the round of the cell's compared group
  bool turns = false;      // Job::turns
};

// The planned cell with the settings of its tuning.
inline PlannedCell ExecutedCell(const RunRequest& request) {
  PlannedCell executed = request.planned;
  if (request.tuning != nullptr)
    executed.cell = WithSettings(request.planned.cell, request.tuning->settings);
  return executed;
}

// The state of a run in progress, for a status line.
struct RunProgress {
  std::string stage;  // "starting", "building", "warming up", "measuring"
  int64_t steps = 0;  // timed so far
  double last_step_ns = 0;
  double loss = 0;
  int64_t rss_bytes = 0;
  int64_t elapsed_ns = 0;
};

struct RunResult {
  RunRecord record;
  RunSeries series;
  std::vector<ProfileRow> profile = {};            // empty unless requested
  std::vector<TraceEvent> trace = {};              // empty unless requested
  std::map<std::string, std::string> frozen = {};  // options that repeat a search's result
};

}  // namespace tench
