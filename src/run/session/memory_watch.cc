// SPDX-License-Identifier: Apache-2.0
#include "run/session/memory_watch.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "machine/system_file.h"

namespace tench {
namespace {

constexpr int64_t kMinReserveBytes = int64_t{256} << 20;
constexpr int64_t kMaxReserveBytes = int64_t{2} << 30;
// A worker that was last seen this near to its limit is taken to have been killed for it.
constexpr double kNearLimit = 0.9;

// The number behind "NAME " at the start of a line.
int64_t Counter(const std::string& text, std::string_view name) {
  for (const auto& line : Split(text, '\n')) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ') {
      const auto value = ParseInteger(Trim(std::string_view(line).substr(name.size())));
      return value ? *value : 0;
    }
  }
  return 0;
}

}  // namespace

int64_t MemoryLimitBytes(int64_t machine_bytes) {
  if (machine_bytes <= 0) return 0;
  const int64_t reserve = std::clamp(machine_bytes / 16, kMinReserveBytes, kMaxReserveBytes);
  return std::max(machine_bytes - reserve, machine_bytes / 2);
}

int64_t OomKills() {
  // The machine's counter sees the kills inside cgroups too; a kernel before 4.13 has none, and
  // then a cgroup's own may help.
  int64_t kills = 0;
  for (const char* path : {"/proc/vmstat", "/sys/fs/cgroup/memory.events",
                           "/sys/fs/cgroup/memory/memory.oom_control"}) {
    if (const auto text = ReadSystemFile(path)) kills += Counter(*text, "oom_kill");
  }
  return kills;
}

MemoryWatch::MemoryWatch(int64_t limit_bytes, SwapPolicy swap, int64_t oom_kills_before)
    : limit_bytes_(limit_bytes), swap_(swap), oom_kills_before_(oom_kills_before) {}

std::optional<std::string> MemoryWatch::Judge(const Sample& sample) {
  if (sample.processes == 0) return std::nullopt;
  last_bytes_ = sample.rss_bytes + sample.swap_bytes;
  peak_swap_bytes_ = std::max(peak_swap_bytes_, sample.swap_bytes);
  if (limit_bytes_ > 0 && last_bytes_ > limit_bytes_) {
    return fmt::format("the worker held {}, more than the limit of {}", HumanBytes(last_bytes_),
                       HumanBytes(limit_bytes_));
  }
  if (swap_ == SwapPolicy::kKill && swapped()) {
    return fmt::format("the worker began to swap ({}) and was ended, as asked",
                       HumanBytes(sample.swap_bytes));
  }
  return std::nullopt;
}

std::optional<std::string> MemoryWatch::ExplainKill(int64_t oom_kills_now) const {
  if (oom_kills_now > oom_kills_before_) {
    return fmt::format("killed by the kernel for lack of memory; it was last seen with {}",
                       HumanBytes(last_bytes_));
  }
  if (limit_bytes_ > 0 &&
      static_cast<double>(last_bytes_) > kNearLimit * static_cast<double>(limit_bytes_)) {
    return fmt::format("killed while it held {}, close to the limit of {}", HumanBytes(last_bytes_),
                       HumanBytes(limit_bytes_));
  }
  return std::nullopt;
}

}  // namespace tench
