// SPDX-License-Identifier: Apache-2.0
#include "run/session/file_hashes.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tench {
namespace {

constexpr int64_t kVersion = 1;  // of the cache's format and of the hash
constexpr size_t kMaxCacheBytes = 16 << 20;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kSettledNs = 2 * kSecondNs;  // FAT's time stamps have a resolution of 2 s
constexpr size_t kHashDigits = 16;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecondNs + time.tv_nsec; }

// Also false for a future time.
bool IsSettled(const FileStamp& stamp) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now) - stamp.changed_ns >= kSettledNs;
}

bool IsHash(const std::string& text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Result<FileStamp> StampOf(const std::filesystem::path& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return Failed("{}: {}", path.string(), strerror(errno));
  return FileStamp{facts.st_size, Nanoseconds(facts.st_mtim)};
}

FileHashes::FileHashes(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  cache_ = folder / "builds.json";
  known_ = Read();
}

FileHashes::Entries FileHashes::Read() const {
  const Result<std::string> text = ReadFile(cache_, kMaxCacheBytes);
  if (!text) return {};
  const Result<Json> json = ParseJson(*text, cache_.string());
  if (!json || !json->is_object()) return {};
  Fields fields(*json, "");
  const int64_t version = fields.Integer("version", 1, kMost);
  const Json& files = fields.Array("files");
  if (!fields.Finish() || version != kVersion) return {};
  Entries entries;
  for (const Json& file : files) {
    if (!file.is_object()) return {};
    Fields of_file(file, "");
    const std::string path = of_file.String("path");
    Entry entry;
    entry.stamp.bytes = of_file.Integer("bytes", 0, kMost);
    entry.stamp.changed_ns = of_file.Integer("changed_ns", -kMost, kMost);
    entry.hash = of_file.String("hash");
    if (!of_file.Finish() || !IsHash(entry.hash)) return {};
    entries[path] = std::move(entry);
  }
  return entries;
}

Result<HashedFile> FileHashes::Hash(const std::filesystem::path& path) {
  const FileStamp stamp = TENCH_TRY(StampOf(path));
  const bool settled = IsSettled(stamp);
  if (const auto found = known_.find(path.string());
      settled && found != known_.end() && found->second.stamp == stamp)
    return HashedFile{path, stamp, found->second.hash};
  ++hashed_;
  HashedFile file{path, stamp, Hex64(TENCH_TRY(HashFile(path)))};
  if (settled) known_[path.string()] = learnt_[path.string()] = {stamp, file.hash};
  return file;
}

Status FileHashes::Save() {
  if (learnt_.empty() || cache_.empty()) return Ok();
  Entries all = Read();
  for (const auto& [path, entry] : learnt_) all[path] = entry;
  Json files = Json::array();
  for (const auto& [path, entry] : all) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    files.push_back({{"path", path},
                     {"bytes", entry.stamp.bytes},
                     {"changed_ns", entry.stamp.changed_ns},
                     {"hash", entry.hash}});
  }
  std::error_code error;
  std::filesystem::create_directories(cache_.parent_path(), error);
  TENCH_TRY(WriteFileAtomically(
      cache_, PrintJson({{"version", kVersion}, {"files", std::move(files)}}, 1) + "\n"));
  learnt_.clear();
  return Ok();
}

}  // namespace tench
