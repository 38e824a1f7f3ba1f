// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file that remembers which kernel was fastest, so that a second run starts at once. One file
// per (CPU model, oneDNN version, generation of our own kernels); inside, a map from a shape's key
// to a kernel's id. A file that is missing, damaged or of another machine is an empty cache, and is
// rewritten.

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace tench::native {

class TunerCache {
 public:
  // Reads what is there. `machine` names the CPU and the library; an entry of a file that names
  // another is not believed.
  TunerCache(std::filesystem::path folder, std::string machine);

  std::optional<std::string> Find(const std::string& key) const;
  void Remember(const std::string& key, const std::string& id);
  // Writes the file if something new was learnt; what another process has written meanwhile is
  // kept.
  Status Save();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::map<std::string, std::string> Read() const;

  std::filesystem::path path_;
  std::string machine_;
  std::map<std::string, std::string> choices_, learnt_;
};

// $XDG_CACHE_HOME/tench or ~/.cache/tench; empty if the environment names neither.
std::filesystem::path DefaultCacheFolder();
// "AMD EPYC 7B13, oneDNN 3.2.0, kernels 4"
std::string MachineName();

}  // namespace tench::native
