// SPDX-License-Identifier: Apache-2.0
#include "cli/single_run.h"

#include "machine/host.h"

namespace tench {

std::shared_ptr<const WorkerBuild> BuildOf(WorkerCatalog& workers, const std::string& worker,
                                           StopToken stop) {
  const auto [name, version] = WorkerName::Of(worker);
  const Result<const WorkerEntry*> entry = workers.Find(name);
  if (!entry.ok()) return nullptr;
  const auto build = workers.Build(**entry, version, stop);
  return build.ok() ? *build : nullptr;
}

RunRequest SingleRun(const PlannedCell& planned, const NetworkReaders& readers,
                     const WorkerBuild* build) {
  const HostFacts host = ReadHost();
  RunRequest request{planned, 0, 0, 0, host.machine, host.machine_id};
  request.cpu_model = host.cpu.model;
  request.isa = IsaOf(host.cpu);
  if (build != nullptr) request.build = build->id;
  request.readers = readers;
  return request;
}

}  // namespace tench
