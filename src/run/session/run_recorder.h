// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sole author of a run record's outcome, reason and flags. RunCell and the study's runner
// report to it what happened; neither edits a finished record. It lives beside RunCell, not in
// run/study, because `tench run` records without a study. Not aware of the store.
//
// Ownership: refers to the request, which must outlive it.

#include <cstdint>
#include <string>

#include "protocol/message.h"
#include "record/sentinel_reading.h"
#include "run/session/isa_evidence.h"
#include "run/session/run_request.h"
#include "run/session/worker_session.h"
#include "store/loss_judgement.h"

namespace tench {

class RunRecorder {
 public:
  // The clock of the run's wall time starts here.
  explicit RunRecorder(const RunRequest& request);

  // For facts that are known before the outcome: network, threads, environment.
  RunRecord& facts() { return result_.record; }

  // What the check of the axis `isa` found; before Ran.
  void CheckedIsa(IsaEvidence evidence) { isa_ = std::move(evidence); }

  // Call exactly one of these, after the session has ended.
  void NotRun(Outcome outcome, std::string reason);
  void Ran(const WorkerSession& session, const Job& job);

  RunResult Finish();

 private:
  void AddFlags(const WorkerSession& session, bool unclean_exit);
  void JudgeIsa(std::map<std::string, std::string> choices);

  const RunRequest& request_;
  int64_t started_ns_;
  int64_t worked_ns_ = 0;  // from exec to exit, without pauses
  int64_t paused_ns_ = 0;
  IsaEvidence isa_;
  RunResult result_;
};

// A run that is skipped because `smaller_batch` of the same cell ran out of memory.
RunResult SkippedRun(const RunRequest& request, int64_t smaller_batch);
// A run that is skipped because this version of the worker failed parity.
RunResult WrongRun(const RunRequest& request, const std::string& reason,
                   const std::string& worker_version);

// The noise sentinel's readings around a run.
void RecordSentinel(const SentinelReadings& readings, RunRecord& record);
// Applies the judgement of a finished run's losses, which depends on the runs of other workers. It
// may change the outcome from `ok` to `wrong`.
void RecordLosses(const LossJudgement& judgement, RunRecord& record);

}  // namespace tench
