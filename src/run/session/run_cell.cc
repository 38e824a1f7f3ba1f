// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_cell.h"

#include "base/file.h"
#include "run/session/cell_run.h"

namespace tench {

RunResult RunCell(WorkerCatalog& workers, const RunRequest& request,
                  const std::function<void(const RunProgress&)>& progress, StopToken stop) {
  CellRun run(request);
  if (WorkerSession* session = run.Start(workers, stop)) session->Watch(progress, stop);
  return run.Finish();
}

void RemoveAbandonedRunFolders() {
  for (const char* prefix : {kRunFolderPrefix, kParityFolderPrefix})
    TemporaryFolder::RemoveAbandoned(prefix);
}

}  // namespace tench
