// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/aligned_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace tench::native {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// /proc/meminfo counts in kB.
int64_t MeminfoBytes(std::string_view text, std::string_view key) {
  for (const std::string& line : Split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::string rest(Trim(std::string_view(line).substr(key.size())));
    const Result<int64_t> kilobytes = ParseInteger(rest.substr(0, rest.find(' ')));
    if (kilobytes) return *kilobytes * 1024;
  }
  return kUnlimited;
}

int64_t NumberIn(const char* path) {
  const Result<std::string> text = ReadFile(path);
  if (!text) return kUnlimited;
  const Result<int64_t> number = ParseInteger(Trim(*text));
  return number ? *number : kUnlimited;
}

// The mapping obeys the setting of glibc's malloc, so that one setting holds for every worker.
bool HugePagesRequested() {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  return tunables != nullptr &&
         std::string_view(tunables).find("glibc.malloc.hugetlb=1") != std::string_view::npos;
}

}  // namespace

Result<AlignedBlock> AlignedBlock::Make(int64_t bytes) {
  AlignedBlock block;
  if (bytes == 0) return block;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return Error{fmt::format("mmap of {} failed", HumanBytes(bytes)), ErrorKind::kOutOfMemory};
  }
  if (HugePagesRequested()) madvise(data, bytes, MADV_HUGEPAGE);
  block.data_ = static_cast<char*>(data);
  block.bytes_ = bytes;
  return block;
}

AlignedBlock& AlignedBlock::operator=(AlignedBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

AlignedBlock::~AlignedBlock() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

int64_t AvailableBytes() {
  int64_t available = kUnlimited;
  if (const Result<std::string> text = ReadFile("/proc/meminfo"))
    available = MeminfoBytes(*text, "MemAvailable:");
  const int64_t limit = NumberIn("/sys/fs/cgroup/memory.max");
  const int64_t used = NumberIn("/sys/fs/cgroup/memory.current");
  if (limit != kUnlimited && used != kUnlimited)
    available = std::min(available, std::max<int64_t>(0, limit - used));
  return available;
}

}  // namespace tench::native
