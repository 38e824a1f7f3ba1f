// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workers on this machine: executables named tench-worker-NAME in TENCH_WORKER_PATH, beside
// tench, then on PATH. An element NAME=FILE of TENCH_WORKER_PATH is one executable. Manifests
// (tench-worker-NAME.json beside tench, or in share/tench/workers of an installation) describe
// workers that could not be built: their requirements and how to install them. Not aware of jobs.
//
// Thread safety: none; Describe and Build cache.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "protocol/message.h"
#include "run/session/isa_evidence.h"

namespace tench {

// A worker and optionally one of the versions that it serves: "tensorflow@2.15".
struct WorkerName {
  std::string name, version;  // version "" = the worker's default

  static WorkerName Of(const std::string& text);
};

// "2.3" matches 2.3, 2.3.1 and 2.3+cpu, but not 2.30; "" matches any version.
bool IsVersion(const std::string& wanted, const std::string& installed);

struct WorkerEntry {
  std::string name;
  std::filesystem::path executable;   // empty = not installed
  std::string title, needs, install;  // from the manifest; may be empty
  // Its launcher runs NAME.py of share/tench/python-workers in a Python environment
  // (python_environment.h).
  bool python = false;
  bool installed() const { return !executable.empty(); }
  // A message with the worker's requirements and how to install it.
  std::string NotInstalled() const;
};

struct WorkerBuild;

class WorkerCatalog {
 public:
  static WorkerCatalog Discover();  // by environment variables
  static WorkerCatalog Discover(const std::vector<std::filesystem::path>& folders);  // for tests

  const std::vector<WorkerEntry>& entries() const { return entries_; }  // sorted by name
  std::vector<std::string> names() const;
  // An error for an unknown name suggests the nearest one.
  Result<const WorkerEntry*> Find(const std::string& name) const;

  // Runs the executable with --describe (deadline 20 s). The result is cached. `version` as in a
  // cell.
  Result<Description> Describe(const WorkerEntry& entry, const std::string& version = "");

  // The build that a job of this worker runs (worker_build.h), identified by a short run and cached
  // for the life of this object, so that a study has one build per worker.
  Result<std::shared_ptr<const WorkerBuild>> Build(const WorkerEntry& entry,
                                                   const std::string& version = "",
                                                   StopToken stop = {});

  // What isa_check.h found, by cell, so that a study checks a cell once.
  std::map<std::string, IsaEvidence>& isa_evidence() const { return isa_evidence_; }

 private:
  std::vector<WorkerEntry> entries_;
  // By name and requested version, like the builds.
  std::map<std::pair<std::string, std::string>, Result<Description>> described_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const WorkerBuild>> builds_;
  mutable std::map<std::string, IsaEvidence> isa_evidence_;
};

}  // namespace tench
