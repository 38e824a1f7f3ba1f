// SPDX-License-Identifier: Apache-2.0
#include "machine/load.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "machine/proc_stat.h"
#include "machine/system_file.h"

namespace tench {

std::vector<ProcessTime> ReadProcessTimes(const std::filesystem::path& proc) {
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  std::vector<ProcessTime> times;
  for (const std::string& name : ListFolder(proc)) {
    if (name[0] < '0' || name[0] > '9') continue;
    const auto line = ReadSystemFile(proc / name / "stat");
    if (!line) continue;
    const auto stat = ParseProcStat(*line);
    if (!stat) continue;
    times.push_back({stat->pid, Printable(stat->name), stat->start_ticks, stat->cpu_ticks * tick_ns,
                     stat->rss_pages * page_bytes});
  }
  return times;
}

std::vector<BusyProcess> BusiestProcesses(const std::vector<ProcessTime>& before,
                                          const std::vector<ProcessTime>& after, int64_t elapsed_ns,
                                          size_t limit, pid_t own) {
  constexpr double kWorthNaming = 0.05;
  if (elapsed_ns <= 0) return {};
  std::map<std::pair<pid_t, int64_t>, int64_t> known;
  for (const ProcessTime& time : before) known[{time.pid, time.start_ticks}] = time.cpu_ns;
  std::vector<BusyProcess> busy;
  for (const ProcessTime& time : after) {
    if (time.pid == own) continue;
    // A process that is new in `after` used all of its CPU time in between.
    const auto then = known.find({time.pid, time.start_ticks});
    const int64_t used_ns = time.cpu_ns - (then == known.end() ? 0 : then->second);
    const double cpus = static_cast<double>(used_ns) / static_cast<double>(elapsed_ns);
    if (cpus >= kWorthNaming) busy.push_back({time.pid, time.name, cpus, time.rss_bytes});
  }
  std::sort(busy.begin(), busy.end(), [](const BusyProcess& a, const BusyProcess& b) {
    return std::pair(-a.cpus, a.pid) < std::pair(-b.cpus, b.pid);
  });
  if (busy.size() > limit) busy.resize(limit);
  return busy;
}

}  // namespace tench
