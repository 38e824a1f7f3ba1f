// SPDX-License-Identifier: Apache-2.0
#include "cli/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <ctime>
#include <fstream>
#include <utility>

namespace tench {
namespace {

constexpr size_t kBlockBytes = 1 << 16;
constexpr std::array<char, 4> kZstandardMagic = {'\x28', '\xb5', '\x2f', '\xfd'};

struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

const char* ReasonOf(archive* handle) {
  const char* text = archive_error_string(handle);
  return text != nullptr ? text : "unknown error";
}

}  // namespace

void ArchiveWriter::Free::operator()(archive* writer) const { archive_write_free(writer); }

ArchiveWriter::ArchiveWriter(std::filesystem::path path, std::unique_ptr<archive, Free> writer)
    : path_(std::move(path)), part_(path_.string() + ".part"), writer_(std::move(writer)) {}

ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;

ArchiveWriter::~ArchiveWriter() {
  if (writer_ == nullptr) return;
  writer_.reset();
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

Result<ArchiveWriter> ArchiveWriter::Create(const std::filesystem::path& path) {
  ArchiveWriter writer(path, std::unique_ptr<archive, Free>(archive_write_new()));
  Check(writer.writer_ != nullptr, "libarchive is out of memory");
  archive* const handle = writer.writer_.get();
  if (archive_write_add_filter_zstd(handle) != ARCHIVE_OK ||
      archive_write_set_format_pax_restricted(handle) != ARCHIVE_OK ||
      archive_write_open_filename(handle, writer.part_.c_str()) != ARCHIVE_OK)
    return writer.Problem();
  return writer;
}

Error ArchiveWriter::Problem() const {
  return Failed("{}: {}", path_.string(), ReasonOf(writer_.get()));
}

Status ArchiveWriter::Begin(const std::string& name, int64_t bytes) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  Check(entry != nullptr, "libarchive is out of memory");
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), bytes);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), std::time(nullptr), 0);
  if (archive_write_header(writer_.get(), entry.get()) != ARCHIVE_OK) return Problem();
  return Ok();
}

Status ArchiveWriter::Put(std::string_view bytes) {
  const la_ssize_t written = archive_write_data(writer_.get(), bytes.data(), bytes.size());
  if (written < 0 || static_cast<size_t>(written) != bytes.size()) return Problem();
  return Ok();
}

Status ArchiveWriter::AddText(const std::string& name, std::string_view content) {
  TENCH_TRY(Begin(name, static_cast<int64_t>(content.size())));
  return Put(content);
}

Status ArchiveWriter::AddFile(const std::string& name, const std::filesystem::path& file) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return Failed("{}: cannot be read", file.string());
  TENCH_TRY(Begin(name, static_cast<int64_t>(bytes)));
  std::string block(kBlockBytes, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0)
    TENCH_TRY(Put(std::string_view(block).substr(0, static_cast<size_t>(in.gcount()))));
  return Ok();
}

Status ArchiveWriter::Finish() {
  if (archive_write_close(writer_.get()) != ARCHIVE_OK) return Problem();
  writer_.reset();
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) return Failed("{}: {}", path_.string(), error.message());
  return Ok();
}

bool IsArchive(const std::filesystem::path& path) {
  std::array<char, 4> begin = {};
  std::ifstream in(path, std::ios::binary);
  return in.read(begin.data(), begin.size()) && begin == kZstandardMagic;
}

Status ExtractFile(const std::filesystem::path& archive_path, const std::string& name,
                   const std::filesystem::path& into) {
  const std::unique_ptr<archive, FreeReader> reader(archive_read_new());
  Check(reader != nullptr, "libarchive is out of memory");
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_tar(reader.get());
  const auto problem = [&] {
    return Failed("{}: {}", archive_path.string(), ReasonOf(reader.get()));
  };
  if (archive_read_open_filename(reader.get(), archive_path.c_str(), kBlockBytes) != ARCHIVE_OK)
    return problem();
  archive_entry* entry = nullptr;
  int code = ARCHIVE_OK;
  while ((code = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* path = archive_entry_pathname(entry);
    if (path == nullptr || path != name) continue;
    std::ofstream out(into, std::ios::binary);
    std::string block(kBlockBytes, '\0');
    la_ssize_t got = 0;
    while ((got = archive_read_data(reader.get(), block.data(), block.size())) > 0)
      out.write(block.data(), got);
    if (got < 0) return problem();
    if (!out.flush()) return Failed("{}: cannot be written", into.string());
    return Ok();
  }
  if (code != ARCHIVE_EOF) return problem();
  return Failed("{}: has no file '{}': it is no bundle of tench", archive_path.string(), name);
}

}  // namespace tench
