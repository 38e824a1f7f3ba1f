// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu_use.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "machine/system_file.h"

namespace tench {

std::optional<CpuUse> ReadCpuUse(const std::vector<int>& cpus, const std::filesystem::path& proc) {
  const std::optional<std::string> text = ReadSystemFile(proc / "stat");
  if (!text) return std::nullopt;
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  std::optional<CpuUse> use;
  for (const std::string& line : Split(*text, '\n')) {
    // "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"
    if (!line.starts_with("cpu") || line.size() < 5 || line[3] == ' ') continue;
    std::istringstream fields(line.substr(3));
    int cpu = -1;
    int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    fields >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    if (!fields || std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    if (!use) use.emplace();
    use->busy_ns += (user + nice + system + irq + softirq) * tick_ns;
    use->steal_ns += steal * tick_ns;
  }
  return use;
}

}  // namespace tench
