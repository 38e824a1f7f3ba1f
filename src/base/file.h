// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files and descriptors. Whole files are read and written in one call; a write is atomic (temporary
// file, fsync, rename), so that a full disk or a kill leaves either the old content or the new.
// Errors name the path and the system's reason.

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
// Reads at most `limit` bytes; fails if the file is larger. For what a user hands us.
Result<std::string> ReadFile(const std::filesystem::path& path, size_t limit);
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

// Little-endian float32 or int32, nothing else in the file; the size must be exactly that of
// `values`. Written by rename but not synced: tensors are scratch between two processes, and large.
Status ReadRaw(const std::filesystem::path& path, std::span<float> values);
Status ReadRaw(const std::filesystem::path& path, std::span<int32_t> values);
Status WriteRaw(const std::filesystem::path& path, std::span<const float> values);
Status WriteRaw(const std::filesystem::path& path, std::span<const int32_t> values);

// A new empty folder under the system's temporary folder, removed with all it holds. Its owner
// keeps it locked (flock), so that a folder whose owner was killed can be told from one in use.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make(std::string_view prefix);
  // Removes what killed processes left behind: this user's folders of that prefix which nobody
  // locks and which are older than a minute. Returns how many.
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

}  // namespace tench
