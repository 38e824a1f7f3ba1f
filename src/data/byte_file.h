// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file that is read at any offset. A gzip file is inflated into memory when it is opened, so both
// kinds look alike; offsets are those of the inflated content.
// Ownership: owns the descriptor or the content. Thread safety: const methods may be called by any
// number of threads.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace tench {

class ByteFile {
 public:
  static Result<ByteFile> Open(const std::filesystem::path& path);

  int64_t size() const { return size_; }
  std::string name() const { return path_.string(); }

  // Exactly `count` bytes; an error names the offset at which the file ends.
  Status Read(int64_t offset, void* out, size_t count) const;
  Result<std::string> ReadString(int64_t offset, size_t count) const;
  Result<uint32_t> ReadBigEndian(int64_t offset) const;  // 32 bits

  // "FILE: offset N: what"
  Error At(int64_t offset, std::string_view what) const;

 private:
  std::filesystem::path path_;
  Fd fd_;
  std::string content_;  // of a gzip file
  int64_t size_ = 0;
};

// The content of a gzip stream of one or more members. `name` is for messages.
Result<std::string> Inflate(std::string_view compressed, std::string_view name);

}  // namespace tench
