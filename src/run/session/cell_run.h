// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of one run: it starts the worker on the job of a cell, the caller watches its session,
// and Finish makes the record. RunCell and turn_set.h are the callers.
//
// Ownership: owns the session and the worker's folder; refers to the request, which must outlive
// it. Thread safety: none.

#include <optional>

#include "base/file.h"
#include "base/stop_token.h"
#include "run/session/run_recorder.h"
#include "run/session/worker_catalog.h"
#include "run/session/worker_session.h"

namespace tench {

class CellRun {
 public:
  // The clock of the run's wall time starts here.
  explicit CellRun(const RunRequest& request) : request_(request), recorder_(request) {}

  // Returns the started session, or null if the record has its outcome already.
  WorkerSession* Start(const WorkerCatalog& workers, StopToken stop);
  // Once the session, if there is one, has ended. Call once.
  RunResult Finish();

  const WorkerSession* session() const { return session_ ? &*session_ : nullptr; }

 private:
  const RunRequest& request_;
  RunRecorder recorder_;
  Job job_;
  std::optional<TemporaryFolder> folder_;
  std::optional<WorkerSession> session_;
};

}  // namespace tench
