// SPDX-License-Identifier: Apache-2.0
#pragma once
// One trial of parity in a worker's own process: the tensors that it loads are written before, the
// tensors that it wrote are in a folder afterwards. Nothing is measured or stored. What the worker
// does wrong is the outcome; an error is this machine's.

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/stop_token.h"
#include "parity/trial.h"
#include "record/outcome.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct Observation {
  Outcome outcome = Outcome::kOk;
  std::string reason;   // of any other outcome
  std::string version;  // of the worker; "" if it never said hello
  std::vector<double> losses;
  TemporaryFolder folder;  // removed with this object

  std::filesystem::path tensors() const { return folder.path() / "tensors"; }
};

// `version` is the one asked for, "" = any: another one is `unsupported`.
Result<Observation> Observe(const WorkerEntry& entry, const std::string& version,
                            const Trial& trial, int64_t timeout_ns, StopToken stop);

}  // namespace tench
