// SPDX-License-Identifier: Apache-2.0
#include "machine/withheld_time.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "machine/cgroup.h"
#include "machine/system_file.h"

namespace tench {
namespace {

// "cpu3 user nice system idle iowait irq softirq steal …", in ticks.
constexpr size_t kStealField = 8;

int64_t TickNs() { return 1'000'000'000 / sysconf(_SC_CLK_TCK); }

std::optional<int64_t> ReadSteal(const std::vector<int>& cpus, const std::filesystem::path& root) {
  int64_t ticks = 0;
  size_t found = 0;
  for (const std::string& line : Split(ReadSystemFile(root / "proc/stat").value_or(""), '\n')) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    const std::vector<std::string> fields = Split(line, ' ');
    if (fields.size() <= kStealField) continue;
    const Result<int64_t> cpu = ParseInteger(std::string_view(fields[0]).substr(3));
    const Result<int64_t> steal = ParseInteger(fields[kStealField]);
    if (!cpu.ok() || !steal.ok() || std::find(cpus.begin(), cpus.end(), *cpu) == cpus.end())
      continue;
    ticks += *steal;
    ++found;
  }
  return found == 0 ? std::nullopt : std::optional(ticks * TickNs());
}

std::optional<double> Share(std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns,
                            int64_t resolution_ns, double cpu_ns) {
  if (!begin_ns || !end_ns || cpu_ns <= 0) return std::nullopt;
  return std::clamp(static_cast<double>(*end_ns - *begin_ns - resolution_ns) / cpu_ns, 0.0, 1.0);
}

}  // namespace

WithheldTime ReadWithheldTime(const std::vector<int>& cpus, const std::filesystem::path& root) {
  return {NowNs(), ReadSteal(cpus, root), ReadThrottledNs(root)};
}

WithheldShares SharesBetween(const WithheldTime& begin, const WithheldTime& end, size_t cpus) {
  const double cpu_ns =
      static_cast<double>(end.time_ns - begin.time_ns) * static_cast<double>(cpus);
  // The counter of each CPU may gain a tick that ended, not began, between the readings.
  const int64_t steal_resolution_ns = TickNs() * static_cast<int64_t>(cpus);
  return {Share(begin.steal_ns, end.steal_ns, steal_resolution_ns, cpu_ns),
          Share(begin.throttled_ns, end.throttled_ns, 0, cpu_ns)};
}

}  // namespace tench
