// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runs that `tench why` explains: profiled and unprofiled runs of two cells, from a results
// file or made now in interleaved rounds.
// Thread safety: on the main thread (run/session/run_cell.h).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/stop_token.h"
#include "profile/alignment.h"
#include "report/why_text.h"
#include "run/session/run_request.h"
#include "run/session/worker_catalog.h"
#include "store/store.h"

namespace tench {

// All ok runs of one side.
struct SideRuns {
  std::vector<Census> censuses;      // of the profiled runs
  std::vector<double> profiled_ns;   // mean step of each profiled run
  std::vector<double> plain_ns;      // mean step of each unprofiled run
  std::vector<double> cpu_per_wall;  // of the profiled runs
  std::string version, command;      // of the newest profiled run
  int64_t threads = 0;
  bool complete() const { return !censuses.empty() && !plain_ns.empty(); }
};

// The stored runs of the cell on this machine. Only those of the build that was profiled last.
Result<SideRuns> StoredRuns(Store& store, const std::string& cell_id,
                            const std::string& machine_id);

// A run that failed, so that nothing can be explained.
struct FailedRun {
  Outcome outcome = Outcome::kOk;
  std::string message;
};

// Makes `rounds` rounds of a profiled and an unprofiled run of both sides, in an order that rotates
// from round to round. Each run is stored if `store` is not null. Ends early with the failed run.
struct WhyRounds {
  SideRuns a, b;
  std::optional<FailedRun> failed;
};
Result<WhyRounds> MakeRuns(WorkerCatalog& workers, const RunRequest& a, const RunRequest& b,
                           int64_t rounds, Store* store, StopToken stop);

// The explanation of complete sides. `a_name` and `b_name` head the columns.
Why Explain(const SideRuns& a, const std::string& a_name, const SideRuns& b,
            const std::string& b_name);

}  // namespace tench
