// SPDX-License-Identifier: Apache-2.0
#pragma once
// The members of a ZIP archive, stored or deflated, as numpy.savez and numpy.savez_compressed write
// them. ZIP64 sizes (members of 4 GiB and more) and encryption are errors.
//
// Errors name the file and the offset. Ownership: owns the file. Thread safety: const methods may
// be called by any number of threads.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_file.h"

namespace tench {

class ZipArchive {
 public:
  // Reads the central directory.
  static Result<ZipArchive> Open(const std::filesystem::path& path);

  bool Has(std::string_view member) const;
  // The inflated content, whose checksum is verified.
  Result<std::string> Read(std::string_view member) const;
  std::vector<std::string> Names() const;

 private:
  struct Member {
    std::string name;
    uint16_t method = 0, flags = 0;
    uint32_t checksum = 0;
    int64_t packed_bytes = 0, bytes = 0, header = 0;  // `header`: offset of the local header
  };

  explicit ZipArchive(ByteFile file) : file_(std::move(file)) {}

  ByteFile file_;
  std::vector<Member> members_;
};

}  // namespace tench
