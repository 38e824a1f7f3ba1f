// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files and descriptors. Whole files are read and written in one call. A write is atomic
// (temporary file, fsync, rename): a full disk or a kill leaves either the old content or the
// new. Errors name the path and the system's reason.
// Ownership: Fd owns its descriptor, TemporaryFolder its directory and lock.
// Thread safety: free functions may be called from any thread; objects are not synchronised.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace tench {

// Owns one file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close();
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

Result<std::string> ReadFile(const std::filesystem::path& path);
// Fails if the file is larger than `limit` bytes. For files that a user supplies.
Result<std::string> ReadFile(const std::filesystem::path& path, size_t limit);
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);
// Hash64 of the content, read in blocks, for files of hundreds of megabytes.
Result<uint64_t> HashFile(const std::filesystem::path& path);

// Raw little-endian float32 or int32. The file's size must equal that of `values`. Written by
// rename but not synced: tensors are large scratch data between two processes.
Status ReadRaw(const std::filesystem::path& path, std::span<float> values);
Status ReadRaw(const std::filesystem::path& path, std::span<int32_t> values);
Status WriteRaw(const std::filesystem::path& path, std::span<const float> values);
Status WriteRaw(const std::filesystem::path& path, std::span<const int32_t> values);

// A new empty folder under the system's temporary folder, removed recursively by the destructor.
// The owner holds a lock (flock) on it, which distinguishes a folder in use from an abandoned one.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make(std::string_view prefix);
  // Removes abandoned folders: those of this user with that prefix that are unlocked and older than
  // `min_age_ns`. Returns their number.
  static int RemoveAbandoned(std::string_view prefix, int64_t min_age_ns = 60'000'000'000);
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryFolder(std::filesystem::path path, Fd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  Fd lock_;
};

// The folder of the running executable.
std::filesystem::path ExecutableFolder();
// $XDG_CACHE_HOME/tench or ~/.cache/tench; empty if the environment names neither.
std::filesystem::path UserCacheFolder();

}  // namespace tench
