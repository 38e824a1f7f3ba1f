// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "machine/affinity.h"
#include "machine/system_file.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

// Decimal, or hexadecimal after "0x"; 0 for anything else.
int LooseInteger(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

bool Matters(std::string_view flag) {
  static constexpr std::array kExact = {
      "sse4_2", "avx",   "avx2",    "fma",     "f16c",                 // x86
      "neon",   "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sme",  // Arm
  };
  static constexpr std::array kPrefixes = {
      "avx512", "avx_vnni", "avx_ne_convert", "avx_ifma", "avx10", "amx_", "sve"};
  const auto begins = [&](std::string_view prefix) { return flag.starts_with(prefix); };
  return std::find(kExact.begin(), kExact.end(), flag) != kExact.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(), begins);
}

void TakeFlags(std::string_view line, CpuFacts& cpu) {
  for (const std::string& flag : Split(line, ' ')) {
    if (Matters(flag)) cpu.flags.push_back(flag);
    if (flag == "hypervisor") cpu.hypervisor = true;
  }
  std::sort(cpu.flags.begin(), cpu.flags.end());
}

// Assumes that all processors are like the first. Their number is the fallback if sysfs has no
// topology.
void ReadCpuinfo(const fs::path& root, CpuFacts& cpu) {
  std::string implementer, part;
  std::set<std::pair<std::string, std::string>> cores;
  std::set<std::string> sockets;
  std::string socket;
  for (const std::string& line : Split(ReadSystemFile(root / "proc/cpuinfo").value_or(""), '\n')) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string key(Trim(std::string_view(line).substr(0, colon)));
    const std::string value(Trim(std::string_view(line).substr(colon + 1)));
    if (key == "processor" && !value.empty() && value[0] >= '0' && value[0] <= '9') ++cpu.logical;
    if (key == "physical id") sockets.insert(socket = value);
    if (key == "core id") cores.emplace(socket, value);
    if (cpu.logical > 1) continue;
    if (key == "model name") cpu.model = value;
    if (key == "vendor_id") cpu.vendor = value;
    if (key == "cpu family") cpu.family = LooseInteger(value);
    if (key == "model") cpu.model_number = LooseInteger(value);
    if (key == "stepping" || key == "CPU revision") cpu.stepping = LooseInteger(value);
    if (key == "microcode") cpu.microcode = value;
    if (key == "CPU architecture") cpu.family = LooseInteger(value);
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part") part = value;
    if (key == "flags" || key == "Features") TakeFlags(value, cpu);
  }
  cpu.cores = static_cast<int>(cores.size());
  cpu.sockets = static_cast<int>(sockets.size());
  if (!implementer.empty()) {
    cpu.vendor = implementer;
    cpu.model_number = LooseInteger(part);
    if (cpu.model.empty()) cpu.model = "Arm implementer " + implementer + " part " + part;
  }
}

std::vector<int> OnlineCpus(const fs::path& folder) {
  const auto list = ReadSystemFile(folder / "online");
  if (!list) return {};
  auto cpus = ParseCpuList(*list);
  return cpus.ok() ? *std::move(cpus) : std::vector<int>{};
}

void ReadTopology(const fs::path& folder, const std::vector<int>& online, CpuFacts& cpu) {
  std::set<std::pair<std::string, std::string>> cores;
  std::set<std::string> sockets;
  for (const int number : online) {
    const fs::path topology = folder / ("cpu" + std::to_string(number)) / "topology";
    const auto socket = ReadSystemFile(topology / "physical_package_id"),
               core = ReadSystemFile(topology / "core_id");
    if (!socket || !core) return;
    // Core ids repeat on multi-die packages; lists of thread siblings do not.
    cores.emplace(*socket, ReadSystemFile(topology / "thread_siblings_list").value_or(*core));
    sockets.insert(*socket);
  }
  if (cores.empty()) return;
  cpu.cores = static_cast<int>(cores.size());
  cpu.sockets = static_cast<int>(sockets.size());
}

void ReadCaches(const fs::path& folder, CpuFacts& cpu) {
  for (const std::string& name : ListFolder(folder)) {
    if (!name.starts_with("index")) continue;
    CpuCache cache;
    cache.level = static_cast<int>(ReadSystemInteger(folder / name / "level").value_or(0));
    cache.type = ReadSystemFile(folder / name / "type").value_or("");
    const auto bytes = ParseBytes(ReadSystemFile(folder / name / "size").value_or(""));
    const auto shared =
        ParseCpuList(ReadSystemFile(folder / name / "shared_cpu_list").value_or(""));
    if (cache.level == 0 || !bytes.ok()) continue;
    cache.bytes = *bytes;
    cache.shared_by = shared.ok() ? static_cast<int>(shared->size()) : 0;
    cpu.caches.push_back(std::move(cache));
  }
}

std::string Governor(const fs::path& folder, const std::vector<int>& online) {
  std::set<std::string> governors;
  for (const int number : online) {
    const auto governor =
        ReadSystemFile(folder / ("cpu" + std::to_string(number)) / "cpufreq/scaling_governor");
    if (governor) governors.insert(*governor);
  }
  if (governors.empty()) return "";
  return governors.size() == 1 ? *governors.begin() : "mixed";
}

std::string Turbo(const fs::path& folder) {
  if (const auto off = ReadSystemInteger(folder / "intel_pstate/no_turbo"))
    return *off != 0 ? "off" : "on";
  if (const auto on = ReadSystemInteger(folder / "cpufreq/boost")) return *on != 0 ? "on" : "off";
  return "";
}

}  // namespace

CpuFacts ReadCpu(const fs::path& root) {
  CpuFacts cpu;
  utsname system;
  if (uname(&system) == 0) cpu.architecture = system.machine;
  ReadCpuinfo(root, cpu);
  const fs::path folder = root / "sys/devices/system/cpu";
  const std::vector<int> online = OnlineCpus(folder);
  if (!online.empty()) cpu.logical = static_cast<int>(online.size());
  ReadTopology(folder, online, cpu);
  if (cpu.cores == 0) cpu.cores = cpu.logical;
  if (cpu.sockets == 0 && cpu.logical > 0) cpu.sockets = 1;
  const auto nodes =
      ParseCpuList(ReadSystemFile(root / "sys/devices/system/node/online").value_or(""));
  if (nodes.ok()) cpu.numa_nodes = static_cast<int>(nodes->size());
  const std::string first = "cpu" + std::to_string(online.empty() ? 0 : online.front());
  ReadCaches(folder / first / "cache", cpu);
  cpu.max_khz = ReadSystemInteger(folder / first / "cpufreq/cpuinfo_max_freq").value_or(0);
  cpu.governor = Governor(folder, online);
  cpu.turbo = Turbo(folder);
  if (const auto active = ReadSystemInteger(folder / "smt/active"))
    cpu.smt = *active != 0 ? "on" : "off";
  return cpu;
}

std::string IsaOf(const CpuFacts& cpu) {
  const auto has = [&](std::string_view flag) {
    return std::find(cpu.flags.begin(), cpu.flags.end(), flag) != cpu.flags.end();
  };
  // The four extensions of server CPUs since 2017; the earlier Xeon Phi has only the first.
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    return has("amx_tile") ? "avx512+amx" : "avx512";
  if (has("avx2") && has("fma")) return "avx2";
  for (const char* isa : {"avx", "sse4_2", "sve2", "sve", "asimd", "neon"}) {
    if (has(isa)) return isa;
  }
  return cpu.architecture;
}

}  // namespace tench
