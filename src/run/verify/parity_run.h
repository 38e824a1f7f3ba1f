// SPDX-License-Identifier: Apache-2.0
#pragma once
// One parity trial in the worker's own process. The tensors that the worker loads are written to
// files first; the tensors that it writes are in a folder afterwards. A failure of the worker is
// the outcome; an error is the machine's. Nothing is timed or stored.

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

struct ParityRun {
  Outcome outcome = Outcome::kOk;
  std::string reason;   // of any other outcome
  std::string version;  // of the worker; "" if it never said hello
  std::vector<double> losses;
  TemporaryFolder folder;  // removed with this object

  std::filesystem::path tensors() const { return folder.path() / "tensors"; }
  std::filesystem::path snapshots() const { return folder.path() / "snapshots"; }
};

// `version` is the one asked for, "" = any: another one is `unsupported`.
Result<ParityRun> RunTrial(const WorkerEntry& entry, const std::string& version, const Trial& trial,
                           int64_t timeout_ns, StopToken stop);

}  // namespace tench
