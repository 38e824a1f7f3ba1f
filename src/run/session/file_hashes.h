// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hashes of files, cached by path, size and modification time. A framework's libraries have
// hundreds of megabytes, so the cache is persistent: builds.json in the user's cache folder. A
// missing or damaged cache counts as empty and is rewritten.
//
// Invariants: a file modified in the last two seconds is always hashed, because a second
// modification within one tick of the file system's clock would not change its time stamp.
// Thread safety: none. Several processes may save to one file: Save merges, and replaces the file
// atomically.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"

namespace tench {

struct FileStamp {
  int64_t bytes = 0, changed_ns = 0;  // since 1970

  bool operator==(const FileStamp&) const = default;
};

// Follows links.
Result<FileStamp> StampOf(const std::filesystem::path& path);

struct HashedFile {
  std::filesystem::path path;
  FileStamp stamp;   // at the time of hashing
  std::string hash;  // 16 hex digits
};

class FileHashes {
 public:
  // With an empty `folder`, the cache is not persistent.
  explicit FileHashes(const std::filesystem::path& folder);

  Result<HashedFile> Hash(const std::filesystem::path& path);
  // Writes the cache if it has new entries. Drops entries of files that no longer exist.
  Status Save();

  const std::filesystem::path& cache() const { return cache_; }
  int64_t hashed() const { return hashed_; }  // number of files read, for tests

 private:
  struct Entry {
    FileStamp stamp;
    std::string hash;
  };
  using Entries = std::map<std::string, Entry>;

  Entries Read() const;

  std::filesystem::path cache_;
  Entries known_, learnt_;
  int64_t hashed_ = 0;
};

}  // namespace tench
