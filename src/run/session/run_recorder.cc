// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_recorder.h"

#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/census_builder.h"
#include "record/run_flag.h"
#include "run/session/isa_limit.h"
#include "run/session/job_plan.h"
#include "run/session/run_outcome.h"
#include "run/session/run_summary.h"
#include "run/session/worker_catalog.h"

namespace tench {
namespace {

constexpr double kThreadTolerance = 0.1;

Census CensusOf(const RunResult& result, const Job& job) {
  if (result.profile.empty()) return {};
  const Graph network = job.phase == Phase::kForward ? InferenceGraph(job.network) : job.network;
  const Result<TypedGraph> graph = Infer(network, job.batch);
  if (!graph.ok()) return {};
  const size_t steps = result.series.warmup_ns.size() + result.series.step_ns.size();
  return MakeCensus(result.profile, *graph, result.record.cell.Text(kAxisWorker),
                    static_cast<int64_t>(steps));
}

}  // namespace

RunRecorder::RunRecorder(const RunRequest& request)
    : request_(request), started_ns_(NowNs()), result_{DraftRecord(request), {}} {
  if (request.profile) result_.record.flags.push_back(kFlagProfiled);
}

void RunRecorder::NotRun(Outcome outcome, std::string reason) {
  result_.record.outcome = outcome;
  result_.record.reason = std::move(reason);
}

void RunRecorder::Ran(const WorkerSession& session, const Job& job) {
  RunRecord& record = result_.record;
  const ProtocolState& protocol = session.protocol();
  const Evidence evidence = EvidenceOf(session, job);
  RunOutcome end = OutcomeOf(evidence);
  record.outcome = end.outcome;
  record.reason = std::move(end.reason);
  const RunSummary draft = record.summary;
  record.summary = Summarise(protocol, job, session.seen());
  record.summary.tune_ns = draft.tune_ns;
  record.summary.tune_pays_steps = draft.tune_pays_steps;
  if (const auto& hello = protocol.hello()) {
    record.worker_version = hello->worker.version;
    record.role = hello->worker.role;
    record.worker_json = ToLine(*hello);
  }
  const auto& built = protocol.built();
  if (built) result_.frozen = built->frozen;
  AddFlags(session, evidence.lingered || !evidence.exit.clean());
  if (const auto& done = protocol.done()) {
    result_.profile = done->profile;
    record.flush_to_zero = done->flush_to_zero;
  }
  result_.series = protocol.series();
  result_.series.census = CensusOf(result_, job);
  result_.series.samples = session.seen().samples.Encode();
  result_.series.log = session.process().log().Text();
  if (built) JudgeIsa(built->choices);
  paused_ns_ = session.paused_ns();
  worked_ns_ = session.process().exit_ns() - session.process().executed_ns() - paused_ns_;
}

void RunRecorder::AddFlags(const WorkerSession& session, bool unclean_exit) {
  RunRecord& record = result_.record;
  const RunSummary& summary = record.summary;
  const auto add = [&](bool holds, const char* flag) {
    if (holds) record.flags.push_back(flag);
  };
  const bool ok = record.outcome == Outcome::kOk;
  add(summary.converged == false, kFlagUnconverged);
  add(session.protocol().negative_loss(), kFlagNegativeLoss);
  add(session.memory().swapped(), kFlagSwapped);
  add(summary.cpu_per_wall &&
          *summary.cpu_per_wall >
              static_cast<double>(record.threads + record.cell.Integer(kAxisDataThreads)) +
                  kThreadTolerance,
      kFlagThreadsExceeded);
  add(ok && unclean_exit, kFlagUncleanExit);
  add(ok && summary.compilations.value_or(0) > 0, kFlagRecompiled);
  const auto& built = session.protocol().built();
  add(ok && record.cell.phase() == Phase::kGradient && built && !built->gradients_materialized,
      kFlagGradientsNotMaterialized);
  // Parity holds only for the version that passed it.
  const auto& passed = request_.verified_version;
  const bool verified = passed && (passed->empty() || *passed == record.worker_version);
  add(ok && verified, kFlagVerified);
  // The reference is correct by definition.
  const std::string worker = WorkerName::Of(request_.planned.cell.Text(kAxisWorker)).name;
  add(ok && !verified && worker != "reference", kFlagUnverified);
}

// The evidence becomes part of the stored choices, as "isa.LIBRARY".
void RunRecorder::JudgeIsa(std::map<std::string, std::string> choices) {
  RunRecord& record = result_.record;
  const std::string missing = InstructionsNotCompiledFor(result_.series.log);
  if (!missing.empty()) choices["not compiled to use"] = missing;
  const std::string& limit = record.cell.Text(kAxisIsa);
  if (limit != kWidestIsa) {
    AddLogEvidence(result_.series.log, ReadCpu(), isa_);
    AddChoiceEvidence(choices, isa_);
    AddProfileEvidence(result_.profile, isa_);
    for (const auto& [library, isa] : isa_) choices["isa." + library] = isa;
    const std::vector<std::string> exceeding = Exceeding(isa_, limit);
    if (!exceeding.empty()) {
      record.flags.push_back(kFlagIsaExceeded);
      if (record.reason.empty())
        record.reason = fmt::format("isa {}: {}", limit, Join(exceeding, ", "));
    } else if (isa_.empty()) {
      record.flags.push_back(kFlagIsaUnverified);
    }
  }
  record.choices_json = PrintJson(Json(choices));
}

RunResult RunRecorder::Finish() {
  RunSummary& summary = result_.record.summary;
  summary.wall_ns = NowNs() - started_ns_ - paused_ns_;
  summary.overhead_ns = summary.wall_ns - worked_ns_;
  return std::move(result_);
}

RunResult SkippedRun(const RunRequest& request, int64_t smaller_batch) {
  RunResult skipped{DraftRecord(request), {}};
  skipped.record.outcome = Outcome::kOutOfMemory;
  skipped.record.reason =
      fmt::format("skipped: batch {} of the same cell ran out of memory", smaller_batch);
  skipped.record.flags = {kFlagSkipped};
  return skipped;
}

RunResult WrongRun(const RunRequest& request, const std::string& reason,
                   const std::string& worker_version) {
  RunResult wrong{DraftRecord(request), {}};
  // Called for the network's facts; a job that cannot be planned has none.
  const PlannedCell executed = ExecutedCell(request);
  (void)PlanJob(executed, CpusFor(executed.cell), wrong.record, request.readers);
  wrong.record.outcome = Outcome::kWrong;
  wrong.record.reason = reason;
  wrong.record.worker_version = worker_version;
  return wrong;
}

void RecordSentinel(const SentinelReadings& readings, RunRecord& record) {
  RunSummary& summary = record.summary;
  summary.sentinel_before_compute_ns = readings.before.compute_ns;
  summary.sentinel_before_memory_ns = readings.before.memory_ns;
  summary.sentinel_after_compute_ns = readings.after.compute_ns;
  summary.sentinel_after_memory_ns = readings.after.memory_ns;
}

void RecordLosses(const LossJudgement& judgement, RunRecord& record) { Apply(judgement, record); }

}  // namespace tench
