// SPDX-License-Identifier: Apache-2.0
// Layout (PKWARE's APPNOTE.TXT): members with local headers, the central directory, and a record at
// the end of the file that says where the directory begins. Numbers are little-endian.
#include "data/zip_archive.h"

#include <zlib.h>

#include <algorithm>

#include "base/text.h"

namespace tench {
namespace {

constexpr std::string_view kLocalMagic("PK\x03\x04", 4), kEntryMagic("PK\x01\x02", 4),
    kEndMagic("PK\x05\x06", 4);
constexpr int64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kMaxCommentBytes = 65'535;
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
constexpr int64_t kZip64 = 0xFFFFFFFF;
constexpr int64_t kMaxInflation = 1040;  // of deflate, which reaches 1032

uint32_t ZipNumber(std::string_view bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = count; i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return value;
}

uint16_t ZipShort(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(ZipNumber(bytes, at, 2));
}
int64_t ZipLong(std::string_view bytes, size_t at) { return ZipNumber(bytes, at, 4); }

// Exactly `bytes` of output, or nothing.
bool InflateRaw(std::string_view packed, std::string& out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = inflate(&stream, Z_FINISH);
  const bool whole = code == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

}  // namespace

Result<ZipArchive> ZipArchive::Open(const std::filesystem::path& path) {
  ZipArchive archive(TENCH_TRY(ByteFile::Open(path)));
  const ByteFile& file = archive.file_;
  const int64_t tail_bytes = std::min(file.size(), kEndBytes + kMaxCommentBytes);
  const std::string tail =
      TENCH_TRY(file.ReadString(file.size() - tail_bytes, static_cast<size_t>(tail_bytes)));
  const size_t end = tail.rfind(kEndMagic);
  if (end == std::string::npos || end + kEndBytes > tail.size())
    return file.At(file.size(), "the end record of a ZIP archive is missing");
  const int64_t count = ZipShort(tail, end + 10), begin = ZipLong(tail, end + 16);
  int64_t at = begin;
  for (int64_t i = 0; i < count; ++i) {
    const std::string entry = TENCH_TRY(file.ReadString(at, kEntryBytes));
    if (!entry.starts_with(kEntryMagic))
      return file.At(at, "no entry of a ZIP archive's directory");
    Member member;
    member.flags = ZipShort(entry, 8);
    member.method = ZipShort(entry, 10);
    member.checksum = ZipNumber(entry, 16, 4);
    member.packed_bytes = ZipLong(entry, 20);
    member.bytes = ZipLong(entry, 24);
    member.header = ZipLong(entry, 42);
    member.name = TENCH_TRY(file.ReadString(at + kEntryBytes, ZipShort(entry, 28)));
    if (std::max({member.packed_bytes, member.bytes, member.header}) == kZip64)
      return file.At(
          at, fmt::format("the member '{}' has 4 GiB or more (ZIP64)", Printable(member.name, 60)));
    at += kEntryBytes + ZipShort(entry, 28) + ZipShort(entry, 30) + ZipShort(entry, 32);
    archive.members_.push_back(std::move(member));
  }
  return archive;
}

bool ZipArchive::Has(std::string_view name) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return member.name == name; });
}

std::vector<std::string> ZipArchive::Names() const {
  std::vector<std::string> names;
  for (const Member& member : members_) names.push_back(member.name);
  return names;
}

Result<std::string> ZipArchive::Read(std::string_view name) const {
  const auto found =
      std::ranges::find_if(members_, [&](const Member& member) { return member.name == name; });
  if (found == members_.end()) return Failed("{}: no member '{}'", file_.name(), name);
  const Member& member = *found;
  const std::string local = TENCH_TRY(file_.ReadString(member.header, kLocalBytes));
  if (!local.starts_with(kLocalMagic)) return file_.At(member.header, "no member of a ZIP archive");
  if (member.flags & kEncrypted) return file_.At(member.header, "the member is encrypted");
  if (member.method != kStored && member.method != kDeflated)
    return file_.At(member.header,
                    fmt::format("the compression method {} is not known", member.method));
  const int64_t data = member.header + kLocalBytes + ZipShort(local, 26) + ZipShort(local, 28);
  std::string packed = TENCH_TRY(file_.ReadString(data, static_cast<size_t>(member.packed_bytes)));
  std::string content;
  if (member.method == kStored) {
    content = std::move(packed);
  } else {
    if (member.bytes > kMaxInflation * (member.packed_bytes + 1))
      return file_.At(data, "the size of the member is wrong");
    content.resize(static_cast<size_t>(member.bytes));
    if (!InflateRaw(packed, content)) return file_.At(data, "broken deflate data");
  }
  const auto sum = crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(content.data()),
                           content.size());
  if (sum != member.checksum) return file_.At(data, "the checksum of the member is wrong");
  return content;
}

}  // namespace tench
