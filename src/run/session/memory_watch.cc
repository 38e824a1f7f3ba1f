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
// A dead worker whose last sample exceeded this share of its limit counts as out of memory.
constexpr double kNearLimit = 0.9;

// The value of the line "NAME VALUE".
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
  // /proc/vmstat includes the kills inside cgroups. Kernels before 4.13 lack the counter, and the
  // cgroup files are the fallback.
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
    return fmt::format("the worker began to swap ({}) and was ended (swap: kill)",
                       HumanBytes(sample.swap_bytes));
  }
  return std::nullopt;
}

std::optional<std::string> MemoryWatch::ExplainKill(int64_t oom_kills_now) const {
  if (oom_kills_now > oom_kills_before_) {
    return fmt::format("killed by the kernel's OOM killer; its last sample was {}",
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
