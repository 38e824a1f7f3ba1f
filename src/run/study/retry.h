// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides which failed runs of a study are retried when it is resumed. A run stores the conditions
// that can turn a failure into a success: the installed workers, the memory, the CPUs and GPUs,
// and what its own worker is missing. A failed run is retried if one of them differs now. The
// worker's build is compared as well: a worker that was not installed may join its study later.
// Not aware of the store or of the order of runs.
//
// Thread safety: none; Changed asks workers to describe themselves.

#include <string>

#include "machine/host.h"
#include "run/session/worker_catalog.h"
#include "store/record.h"

namespace tench {

class RetryConditions {
 public:
  RetryConditions(WorkerCatalog& workers, const HostFacts& host, const WorkerBuilds& builds);

  // The conditions to store with a run of this outcome, as one JSON object.
  std::string For(const RunRecord& run) const;
  // Whether a condition of the failed run differs. False for a run of an older file, whose
  // conditions are unknown.
  bool Changed(const RunRecord& run) const;

 private:
  std::string MissingOf(const std::string& worker) const;

  WorkerCatalog& workers_;
  const WorkerBuilds& builds_;
  std::vector<std::string> installed_, devices_;
  int64_t memory_bytes_ = 0;
};

}  // namespace tench
