// SPDX-License-Identifier: Apache-2.0
#include "run/verify/parity_gate.h"

#include "base/clock.h"
#include "data/data_set.h"
#include "machine/affinity.h"
#include "protocol/missing_fact.h"
#include "run/session/job_axes.h"
#include "run/session/worker_build.h"

namespace tench {

// A cell with more threads than CPUs is refused by its run, not by parity.
Result<Subject> ParitySubject(const Cell& cell, const NetworkReaders& readers) {
  Subject subject;
  ApplyAxes(cell, subject.job);
  subject.job.network = TENCH_TRY(LoadNetwork(cell.Text(kAxisNetwork), cell.Text(kAxisData),
                                              cell.Integer(kAxisLength), readers));
  const auto cpus = static_cast<int64_t>(AllowedCpus().size());
  if (subject.job.threads == 0 || subject.job.threads > cpus) subject.job.threads = cpus;
  return subject;
}

ParityGate::ParityGate(Store& store, WorkerCatalog& workers,
                       std::vector<std::filesystem::path> sketch_folders, StopToken stop,
                       NetworkReaders readers)
    : readers_(std::move(readers)),
      store_(store),
      workers_(workers),
      stop_(stop),
      cpu_(ReadCpu()),
      answers_(workers, std::move(sketch_folders), stop),
      verifier_(workers, answers_, stop) {}

Result<ParityRecord> ParityGate::Find(const PlannedCell& planned,
                                      const Verifier::Progress& progress) {
  const Cell& cell = planned.cell;
  const WorkerName worker = WorkerName::Of(cell.Text(kAxisWorker));
  const WorkerEntry* entry = TENCH_TRY(workers_.Find(worker.name));
  if (!entry->installed()) return Unsupported("the worker is not installed");
  const Description description = TENCH_TRY(workers_.Describe(*entry, worker.version));
  // The run itself reports this; a trial would only repeat it.
  if (const auto missing = description.facts.find(kMissingFact); missing != description.facts.end())
    return Unsupported("{}", missing->second);
  if (!IsVersion(worker.version, description.version))
    return Unsupported("version {} was asked for, but {} is installed", worker.version,
                       description.version);
  // Tolerances exist for f32 only.
  if (cell.Text(kAxisPrecision) != "f32")
    return Unsupported("parity has no tolerances for {}", cell.Text(kAxisPrecision));
  const Subject subject = TENCH_TRY(ParitySubject(cell, readers_));
  const SubjectName name{cell.Text(kAxisNetwork),
                         TENCH_TRY(ResolveData(cell.Text(kAxisNetwork), cell.Text(kAxisData)))};
  const auto build = TENCH_TRY(workers_.Build(*entry, worker.version, stop_));
  ParityKey key{entry->name,        description.version, build->id,
                cpu_.model,         IsaOf(cpu_),         Fingerprint(subject.job.network),
                ParitySetting(cell)};
  const ParityRecord network = TENCH_TRY(FindOr(key, *build, [&]() -> Result<Verification> {
    if (!answers_.Affordable(name, subject))
      return Unsupported("the reference would need minutes, and no sketches of {} are there",
                         name.Label());
    return verifier_.Verify(cell.Text(kAxisWorker), name, subject, progress,
                            planned.limits.timeout_ns);
  }));
  if (network.outcome != Outcome::kOk) return network;
  key.setting = TimedSetting(cell);
  return FindOr(key, *build, [&] {
    return verifier_.VerifyTimed(cell.Text(kAxisWorker), name, subject, progress,
                                 planned.limits.timeout_ns);
  });
}

Result<ParityRecord> ParityGate::FindOr(const ParityKey& key, const WorkerBuild& build,
                                        const std::function<Result<Verification>()>& verify) {
  const auto known = TENCH_TRY(store_.FindParity(key));
  if (known) return *known;
  const Verification found = TENCH_TRY(verify());
  ParityRecord record;
  record.key = key;
  record.outcome =
      found.verified() || found.outcome != Outcome::kOk ? found.outcome : Outcome::kUnsupported;
  record.reason = found.reason;
  record.worst = found.worst;
  record.worst_tensor = found.worst_tensor;
  record.checked_utc = UtcNow();
  if (!build.Unchanged()) return Failed("the worker was rebuilt while it was verified");
  // Only a verdict is stored: a crash, a timeout or a lack of memory may be transient.
  if (found.judged && (found.outcome == Outcome::kOk || found.outcome == Outcome::kWrong))
    TENCH_TRY(store_.SetParity(record));
  return record;
}

ParityGate::Finding ParityGate::Check(const PlannedCell& planned,
                                      const Verifier::Progress& progress) {
  // The reference is correct by definition.
  if (WorkerName::Of(planned.cell.Text(kAxisWorker)).name == "reference")
    return {State::kVerified, "", ""};
  const Result<ParityRecord> found = Find(planned, progress);
  if (!found) return {State::kUnknown, found.error().message, ""};
  if (found->outcome == Outcome::kOk) return {State::kVerified, "", found->key.worker_version};
  if (found->outcome == Outcome::kWrong)
    return {State::kWrong, "parity: " + found->reason, found->key.worker_version};
  return {State::kUnknown, found->reason, found->key.worker_version};
}

}  // namespace tench
