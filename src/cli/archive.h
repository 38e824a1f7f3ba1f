// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tar archive compressed by Zstandard, through libarchive. Files are regular, owned by nobody and
// in the order of their addition, so that equal content gives equal bytes up to the modification
// time. Not aware of what the files mean.
//
// Ownership: a writer owns its unfinished file and removes it unless Finish succeeds.
// Thread safety: none.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

struct archive;

namespace tench {

class ArchiveWriter {
 public:
  // Writes to `path`.part, which Finish renames to `path`.
  static Result<ArchiveWriter> Create(const std::filesystem::path& path);
  ArchiveWriter(ArchiveWriter&&) noexcept;
  ~ArchiveWriter();

  Status AddText(const std::string& name, std::string_view content);
  Status AddFile(const std::string& name, const std::filesystem::path& file);
  Status Finish();

 private:
  struct Free {
    void operator()(archive* writer) const;
  };
  ArchiveWriter(std::filesystem::path path, std::unique_ptr<archive, Free> writer);
  Error Problem() const;
  Status Begin(const std::string& name, int64_t bytes);
  Status Put(std::string_view bytes);

  std::filesystem::path path_, part_;
  std::unique_ptr<archive, Free> writer_;
};

// Whether the file begins like a Zstandard frame.
bool IsArchive(const std::filesystem::path& path);

// Extracts the file `name` of the archive to `into`. Fails if there is none, or if the archive is
// damaged or no tar archive.
Status ExtractFile(const std::filesystem::path& archive_path, const std::string& name,
                   const std::filesystem::path& into);

}  // namespace tench
