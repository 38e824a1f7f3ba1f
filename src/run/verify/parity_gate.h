// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gate between a study's cells and the clock: a worker that fails parity is not measured. A
// cell is verified by two records, each determined once and kept in the store for later studies:
// one of the network in an observing build, which holds for every batch, and one of the timed build
// with the cell's own batch, threads, phase and solver.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/stop_token.h"
#include "data/data_set.h"
#include "machine/cpu.h"
#include "plan/matrix.h"
#include "run/verify/verifier.h"
#include "store/store.h"

namespace tench {

// What the trials of a cell's worker check, by the same mapping of axes as the run's job.
Result<Subject> ParitySubject(const Cell& cell, const NetworkReaders& readers);

class ParityGate {
 public:
  enum class State {
    kVerified,
    kWrong,
    kUnknown,  // could not be found out: the cell is measured, and says that it is unverified
  };
  struct Finding {
    State state = State::kUnknown;
    std::string reason, worker_version;
  };

  ParityGate(Store& store, WorkerCatalog& workers,
             std::vector<std::filesystem::path> sketch_folders, StopToken stop,
             NetworkReaders readers = {});

  Finding Check(const PlannedCell& planned, const Verifier::Progress& progress);

 private:
  Result<ParityRecord> Find(const PlannedCell& planned, const Verifier::Progress& progress);
  // The stored record of this key, or a new one by `verify`.
  Result<ParityRecord> FindOr(const ParityKey& key, const WorkerBuild& build,
                              const std::function<Result<Verification>()>& verify);

  NetworkReaders readers_;
  Store& store_;
  WorkerCatalog& workers_;
  const StopToken stop_;
  const CpuFacts cpu_;
  ReferenceAnswers answers_;
  Verifier verifier_;
};

}  // namespace tench
