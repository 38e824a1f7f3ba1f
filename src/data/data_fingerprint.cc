// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "data/byte_file.h"
#include "data/file_data.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kProbeBytes = 4096;
constexpr int64_t kBlocks = 64;  // of a file of a large data set

uint64_t HashNumber(uint64_t value, uint64_t before) {
  return Hash64(std::string_view(reinterpret_cast<const char*>(&value), sizeof value), before);
}

// The first and the last block, and others at equal distances.
Result<uint64_t> HashBlocks(const fs::path& path, int64_t size, uint64_t hash) {
  const ByteFile file = TENCH_TRY(ByteFile::Open(path));
  const int64_t last = std::max<int64_t>(0, std::min(size, file.size()) - kProbeBytes);
  for (int64_t i = 0; i < kBlocks; ++i) {
    const int64_t offset = last / (kBlocks - 1) * i;
    const auto count = static_cast<size_t>(std::min(kProbeBytes, file.size() - offset));
    const std::string block = TENCH_TRY(file.ReadString(offset, count));
    hash = Hash64(block, hash);
  }
  return hash;
}

}  // namespace

// The names of files are left out, except for their last part: the same data in another folder is
// the same data.
Result<std::string> FileData::Fingerprint() const {
  int64_t total = 0;
  std::vector<int64_t> sizes;
  for (const fs::path& file : facts().files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (error) return Failed("{}: {}", file.string(), error.message());
    sizes.push_back(static_cast<int64_t>(size));
    total += sizes.back();
  }
  uint64_t hash = Hash64(facts().format);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const fs::path& file = facts().files[i];
    hash = Hash64(file.filename().string(), HashNumber(static_cast<uint64_t>(sizes[i]), hash));
    hash = total <= kScannedBytes ? HashNumber(TENCH_TRY(HashFile(file)), hash)
                                  : TENCH_TRY(HashBlocks(file, sizes[i], hash));
  }
  for (const std::string& name : facts().class_names) hash = Hash64(name + "\n", hash);
  const Transform& transform = transformer_.transform();
  hash = Hash64(
      fmt::format("resize {}x{} channels {} crop {} mirror {} mean {} scale {} shuffle {} "
                  "classes {} vocabulary {} shape {} label_first {}",
                  transform.resize_height, transform.resize_width, transform.channels,
                  transform.crop, transform.mirror, fmt::join(transform.mean, "/"), transform.scale,
                  reference_.shuffle, reference_.classes, facts().vocabulary,
                  ToString(reference_.source.shape), reference_.source.label_first),
      hash);
  if (transform.bgr) hash = Hash64("bgr\n", hash);
  if (reference_.source.test_split) hash = Hash64("split test\n", hash);
  if (!transform.mean_file.empty())
    hash = HashNumber(TENCH_TRY(HashFile(transform.mean_file)), hash);
  return Hex64(hash);
}

Status FileData::CheckFingerprint() const {
  if (reference_.fingerprint.empty()) return Ok();
  const std::string found = TENCH_TRY(Fingerprint());
  if (found == reference_.fingerprint) return Ok();
  return Failed("{}: the data has the fingerprint {}, not {}: its files have changed",
                reference_.path, found, reference_.fingerprint);
}

}  // namespace tench
