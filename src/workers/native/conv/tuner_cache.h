// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tuner's persistent cache: a JSON file that maps a convolution's key to the id of the fastest
// candidate. One file per CPU model, oneDNN version and kernel generation. A missing or damaged
// file, or one of another machine, counts as empty and is rewritten.
//
// Ownership: a value. Thread safety: one thread; several processes may save to one file, and Save
// merges.

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace tench::native {

class TunerCache {
 public:
  // Reads the file of `machine` (MachineName) in `folder`; an empty folder means no file.
  TunerCache(std::filesystem::path folder, std::string machine);

  std::optional<std::string> Find(const std::string& key) const;
  void Remember(const std::string& key, const std::string& id);
  // Writes the file if Remember was called; entries that another process wrote meanwhile are kept.
  Status Save();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::map<std::string, std::string> Read() const;

  std::filesystem::path path_;
  std::string machine_;
  std::map<std::string, std::string> choices_, learnt_;
};

// CPU model, oneDNN version and kernel generation: "AMD EPYC 7B13, oneDNN 3.2.0, kernels 5".
std::string MachineName();

}  // namespace tench::native
