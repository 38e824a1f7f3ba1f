// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workers on this machine: executables named tench-worker-NAME in TENCH_WORKER_PATH, beside
// tench, then on PATH. Manifests (tench-worker-NAME.json beside tench, or in share/tench/workers of
// an installation) describe workers that could not be built: their requirements and how to install
// them. Not aware of jobs.
//
// Thread safety: none; Describe caches.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "protocol/message.h"

namespace tench {

// "tensorflow@2.15": a worker, and which of the versions that it serves.
struct WorkerName {
  std::string name, version;  // version "" = the one that the worker takes by itself

  static WorkerName Of(const std::string& text);
};

// "2.3" asks for 2.3 itself, 2.3.1 or 2.3+cpu, but not for 2.30; "" asks for any.
bool IsVersion(const std::string& wanted, const std::string& installed);

struct WorkerEntry {
  std::string name;
  std::filesystem::path executable;   // empty = not installed
  std::string title, needs, install;  // from the manifest; may be empty
  bool installed() const { return !executable.empty(); }
  // In words, with what it needs and how to install it.
  std::string NotInstalled() const;
};

class WorkerCatalog {
 public:
  static WorkerCatalog Discover();  // as the environment says
  static WorkerCatalog Discover(const std::vector<std::filesystem::path>& folders);  // for tests

  const std::vector<WorkerEntry>& entries() const { return entries_; }  // by name
  std::vector<std::string> names() const;
  // Unknown names: an error with the nearest one.
  Result<const WorkerEntry*> Find(const std::string& name) const;

  // Asks the executable (deadline 20 s, remembered for the life of this object); `version` as a
  // cell names it.
  Result<Description> Describe(const WorkerEntry& entry, const std::string& version = "");

 private:
  std::vector<WorkerEntry> entries_;
  std::map<std::pair<std::string, std::string>, Result<Description>>
      described_;  // by name and version asked for
};

}  // namespace tench
