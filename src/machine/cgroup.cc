// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "machine/system_file.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

// cgroup v1 reports "no limit" as the largest multiple of the page size.
constexpr int64_t kNoLimit = int64_t{1} << 60;

// The existing groups from `path` up to the mount's root.
std::vector<fs::path> Chain(const fs::path& mount, const std::string& path) {
  std::vector<fs::path> chain;
  for (fs::path group = fs::path(path).relative_path(); !group.empty();
       group = group.parent_path()) {
    std::error_code error;
    if (fs::is_directory(mount / group, error)) chain.push_back(mount / group);
  }
  chain.push_back(mount);
  return chain;
}

template <class T>
void Tighten(std::optional<T>& limit, T value) {
  limit = std::min(limit.value_or(value), value);
}

void TightenBytes(std::optional<int64_t>& limit, const fs::path& file) {
  const auto bytes = ReadSystemInteger(file);  // "max" does not parse: no limit
  if (bytes && *bytes >= 0 && *bytes < kNoLimit) Tighten(limit, *bytes);
}

// cgroup v1 reports "no limit" as a quota of -1.
void TightenCpus(CgroupLimits& limits, int64_t quota, int64_t period) {
  if (quota > 0 && period > 0)
    Tighten(limits.cpus, static_cast<double>(quota) / static_cast<double>(period));
}

void ReadV2(const fs::path& mount, const std::string& path, CgroupLimits& limits) {
  for (const fs::path& group : Chain(mount, path)) {
    TightenBytes(limits.memory_bytes, group / "memory.max");
    TightenBytes(limits.swap_bytes, group / "memory.swap.max");
    // "200000 100000" or "max 100000"
    const auto cpu_max = Split(ReadSystemFile(group / "cpu.max").value_or(""), ' ');
    if (cpu_max.size() != 2) continue;
    const auto quota = ParseInteger(cpu_max[0]), period = ParseInteger(cpu_max[1]);
    if (quota.ok() && period.ok()) TightenCpus(limits, *quota, *period);
  }
}

void ReadV1Memory(const fs::path& mount, const std::string& path, CgroupLimits& limits) {
  for (const fs::path& group : Chain(mount, path))
    TightenBytes(limits.memory_bytes, group / "memory.limit_in_bytes");
}

void ReadV1Cpu(const fs::path& mount, const std::string& path, CgroupLimits& limits) {
  for (const fs::path& group : Chain(mount, path)) {
    const auto quota = ReadSystemInteger(group / "cpu.cfs_quota_us");
    const auto period = ReadSystemInteger(group / "cpu.cfs_period_us");
    if (quota && period) TightenCpus(limits, *quota, *period);
  }
}

// A field of cpu.stat of every group, summed.
void AddThrottled(const fs::path& mount, const std::string& path, std::string_view field,
                  int64_t unit_ns, std::optional<int64_t>& throttled_ns) {
  for (const fs::path& group : Chain(mount, path)) {
    for (const std::string& line : Split(ReadSystemFile(group / "cpu.stat").value_or(""), '\n')) {
      if (!line.starts_with(field)) continue;
      const Result<int64_t> value = ParseInteger(Trim(std::string_view(line).substr(field.size())));
      if (value.ok()) throttled_ns = throttled_ns.value_or(0) + *value * unit_ns;
    }
  }
}

// A mount of this process's groups: all controllers of version 2, or some of version 1.
struct Mount {
  bool is_v2 = false;
  std::string controller;  // version 1 only
  fs::path folder;
  std::string path;  // of the process's group
};

std::vector<Mount> MountsOf(const fs::path& root) {
  std::vector<Mount> found;
  const fs::path mounts = root / "sys/fs/cgroup";
  for (const std::string& line :
       Split(ReadSystemFile(root / "proc/self/cgroup").value_or(""), '\n')) {
    // "4:memory:/path", "0::/path"; the path may hold colons.
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    std::error_code error;
    if (controllers.empty()) {
      const fs::path hybrid = mounts / "unified";
      found.push_back({true, "", fs::is_directory(hybrid, error) ? hybrid : mounts, path});
      continue;
    }
    for (const std::string& controller : Split(controllers, ',')) {
      // Controllers that are mounted together share a directory, which may lack an alias for each.
      const fs::path mount =
          fs::is_directory(mounts / controller, error) ? mounts / controller : mounts / controllers;
      found.push_back({false, controller, mount, path});
    }
  }
  return found;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const fs::path& root) {
  CgroupLimits limits;
  for (const Mount& mount : MountsOf(root)) {
    if (mount.is_v2) {
      ReadV2(mount.folder, mount.path, limits);
      if (limits.version == 0) limits.version = 2;
    } else if (mount.controller == "memory") {
      limits.version = 1;
      ReadV1Memory(mount.folder, mount.path, limits);
    } else if (mount.controller == "cpu") {
      ReadV1Cpu(mount.folder, mount.path, limits);
    }
  }
  return limits;
}

std::optional<int64_t> ReadThrottledNs(const fs::path& root) {
  std::optional<int64_t> throttled_ns;
  for (const Mount& mount : MountsOf(root)) {
    if (mount.is_v2) AddThrottled(mount.folder, mount.path, "throttled_usec ", 1000, throttled_ns);
    if (mount.controller == "cpu")
      AddThrottled(mount.folder, mount.path, "throttled_time ", 1, throttled_ns);
  }
  return throttled_ns;
}

}  // namespace tench
