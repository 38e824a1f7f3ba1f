// SPDX-License-Identifier: Apache-2.0
#pragma once
// The build of a worker: the hash of its executable and of the files that it loads
// (loaded_files.h). Two builds with one version number have different ids. tench computes the id,
// so that workers of any language and origin have one. Results, parity and studies refer to it.
//
// The id depends on the names and contents of the files, not on their folders: a build that was
// moved or installed elsewhere has the same id. Python modules are not mapped files: the
// worker's script counts, the version that it reports, and in a user's environment the names and
// versions of the loaded packages.

#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "run/session/file_hashes.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct WorkerBuild {
  std::string id;                 // 16 hex digits
  std::vector<HashedFile> files;  // sorted by path, including the worker's executable
  // Why the framework does not load, with the remedy if the worker knows one; usually empty.
  std::string not_loaded;

  // Whether all files have the same size and time as when they were hashed.
  bool Unchanged() const;
};

// The id of the files, independent of their order, and of the packages (LoadedCode).
std::string BuildId(const std::vector<HashedFile>& files, const std::string& packages = "");

// If the worker executes no step, only its executable counts. Fails if the executable cannot be
// read, or on a stop request.
Result<WorkerBuild> IdentifyBuild(const WorkerEntry& entry, const std::string& version,
                                  FileHashes& hashes, StopToken stop);

}  // namespace tench
