// SPDX-License-Identifier: Apache-2.0
#include "cli/gzip_file.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace tench {
namespace {

struct Free {
  void operator()(archive* writer) const { archive_write_free(writer); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

}  // namespace

Status WriteGzipFile(const std::filesystem::path& path, std::string_view content) {
  const std::string part = path.string() + ".part";
  const std::unique_ptr<archive, Free> writer(archive_write_new());
  const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
  Check(writer != nullptr && entry != nullptr, "libarchive is out of memory");
  archive_entry_set_pathname(entry.get(), "content");
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_size(entry.get(), static_cast<int64_t>(content.size()));
  const bool written =
      archive_write_add_filter_gzip(writer.get()) == ARCHIVE_OK &&
      archive_write_set_filter_option(writer.get(), "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
      archive_write_set_format_raw(writer.get()) == ARCHIVE_OK &&
      archive_write_open_filename(writer.get(), part.c_str()) == ARCHIVE_OK &&
      archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK &&
      archive_write_data(writer.get(), content.data(), content.size()) ==
          static_cast<la_ssize_t>(content.size()) &&
      archive_write_close(writer.get()) == ARCHIVE_OK;
  std::error_code error;
  if (written) {
    std::filesystem::rename(part, path, error);
    if (!error) return Ok();
  }
  const char* reason = archive_error_string(writer.get());
  const Error failed = Failed("{}: {}", path.string(),
                              error    ? error.message()
                              : reason ? reason
                                       : "unknown error");
  std::filesystem::remove(part, error);
  return failed;
}

}  // namespace tench
