// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gate between a study's cells and the clock: a worker that fails parity is not measured.
// Parity is determined once per worker version, network and setting, and kept in the store for
// every later cell and study.

#include <filesystem>
#include <string>
#include <vector>

#include "base/stop_token.h"
#include "data/data_set.h"
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

  NetworkReaders readers_;
  Store& store_;
  WorkerCatalog& workers_;
  ReferenceAnswers answers_;
  Verifier verifier_;
};

}  // namespace tench
