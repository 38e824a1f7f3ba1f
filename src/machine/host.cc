// SPDX-License-Identifier: Apache-2.0
#include "machine/host.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "machine/affinity.h"
#include "machine/system_file.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

std::string Text(const fs::path& path) { return ReadSystemFile(path).value_or(""); }

void ReadMemory(const fs::path& root, HostFacts& host) {
  for (const std::string& line : Split(Text(root / "proc/meminfo"), '\n')) {
    const size_t colon = line.find(':');
    const size_t unit = line.rfind(" kB");
    if (colon == line.npos || unit == line.npos || unit < colon) continue;
    const auto kib = ParseInteger(Trim(std::string_view(line).substr(colon + 1, unit - colon - 1)));
    if (!kib.ok()) continue;
    const std::string_view key = std::string_view(line).substr(0, colon);
    if (key == "MemTotal") host.memory_bytes = *kib << 10;
    if (key == "MemAvailable") host.available_bytes = *kib << 10;
    if (key == "SwapTotal") host.swap_bytes = *kib << 10;
    if (key == "SwapFree") host.free_swap_bytes = *kib << 10;
  }
}

std::vector<int> ReadAllowedCpus(const fs::path& root) {
  for (const std::string& line : Split(Text(root / "proc/self/status"), '\n')) {
    constexpr std::string_view kKey = "Cpus_allowed_list:";
    if (!line.starts_with(kKey)) continue;
    auto cpus = ParseCpuList(Trim(std::string_view(line).substr(kKey.size())));
    if (cpus.ok()) return *std::move(cpus);
  }
  return {};
}

std::string Distribution(const fs::path& root) {
  for (const char* file : {"etc/os-release", "usr/lib/os-release"}) {
    for (const std::string& line : Split(Text(root / file), '\n')) {
      constexpr std::string_view kKey = "PRETTY_NAME=";
      if (!line.starts_with(kKey)) continue;
      std::string_view name = Trim(std::string_view(line).substr(kKey.size()));
      if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
          name.back() == name.front()) {
        name = name.substr(1, name.size() - 2);
      }
      return std::string(name);
    }
  }
  return "";
}

// A heuristic: known vendor names in the DMI tables, or the CPU's hypervisor flag.
std::string Virtualisation(const fs::path& root, bool hypervisor_flag) {
  if (Text(root / "proc/sys/kernel/osrelease").find("icrosoft") != std::string::npos) return "wsl";
  if (const std::string type = Text(root / "sys/hypervisor/type"); !type.empty()) return type;
  const fs::path tables = root / "sys/class/dmi/id";
  const std::string firmware = Text(tables / "sys_vendor") + " " + Text(tables / "product_name");
  static constexpr std::pair<const char*, const char*> kSigns[] = {
      {"KVM", "kvm"},
      {"QEMU", "kvm"},
      {"VMware", "vmware"},
      {"VirtualBox", "virtualbox"},
      {"Parallels", "parallels"},
      {"Google Compute Engine", "google"},
      {"Xen", "xen"},
      {"Virtual Machine", "hyper-v"},
  };
  for (const auto& [sign, name] : kSigns) {
    if (firmware.find(sign) != std::string::npos) return name;
  }
  // Bare-metal instances of Amazon have the same vendor name, but not the flag.
  if (hypervisor_flag)
    return firmware.find("Amazon EC2") != std::string::npos ? "amazon" : "virtual machine";
  return "";
}

std::string Container(const fs::path& root) {
  std::error_code error;
  if (fs::exists(root / ".dockerenv", error)) return "docker";
  if (fs::exists(root / "run/.containerenv", error)) return "podman";
  if (const std::string manager = Text(root / "run/systemd/container"); !manager.empty())
    return manager;
  return "";
}

// "always [madvise] never" -> "madvise"
std::string Chosen(const std::string& choices) {
  const size_t open = choices.find('['), close = choices.find(']');
  if (open == choices.npos || close == choices.npos || close < open) return "";
  return choices.substr(open + 1, close - open - 1);
}

std::array<double, 3> ReadLoad(const fs::path& root) {
  std::array<double, 3> load{};
  const std::vector<std::string> words = Split(Text(root / "proc/loadavg"), ' ');
  for (size_t i = 0; i < load.size() && i < words.size(); ++i) {
    if (const auto value = ParseReal(words[i]); value.ok()) load[i] = *value;
  }
  return load;
}

// Kernels reserve a few percent of the installed memory, and the share changes with the version.
// Rounding up to an eighth of the largest power of two below recovers the installed size on common
// machines, so that the id survives a kernel upgrade.
int64_t InstalledBytes(int64_t memory_bytes) {
  if (memory_bytes < 8) return memory_bytes;
  const int64_t grain =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(memory_bytes)) / 8);
  return (memory_bytes + grain - 1) / grain * grain;
}

std::string MachineId(const HostFacts& host) {
  const int64_t installed_bytes = InstalledBytes(host.memory_bytes);
  return Hex64(Hash64(fmt::format("{}\n{}\n{}\n{}\n{}", host.machine, host.cpu.model,
                                  host.cpu.cores, host.cpu.logical, installed_bytes)));
}

}  // namespace

int64_t HostFacts::UsableMemoryBytes() const {
  return std::min(memory_bytes, cgroup.memory_bytes.value_or(memory_bytes));
}

double HostFacts::UsableCpus() const {
  const size_t count =
      allowed_cpus.empty() ? static_cast<size_t>(cpu.logical) : allowed_cpus.size();
  const double cpus = static_cast<double>(count);
  return std::min(cpus, cgroup.cpus.value_or(cpus));
}

HostFacts ReadHost(const Nvml* nvml, const fs::path& root) {
  HostFacts host;
  const char* const label = std::getenv("TENCH_MACHINE");
  host.machine = label != nullptr && *label != '\0' ? std::string(label)
                                                    : Text(root / "proc/sys/kernel/hostname");
  host.cpu = ReadCpu(root);
  host.allowed_cpus = ReadAllowedCpus(root);
  host.cgroup = ReadCgroupLimits(root);
  ReadMemory(root, host);
  host.swappiness =
      static_cast<int>(ReadSystemInteger(root / "proc/sys/vm/swappiness").value_or(-1));
  host.kernel = Text(root / "proc/sys/kernel/osrelease");
  host.distribution = Distribution(root);
  host.virtualisation = Virtualisation(root, host.cpu.hypervisor);
  host.container = Container(root);
  host.huge_pages = Chosen(Text(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  host.clock_source =
      Text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  host.load = ReadLoad(root);
  if (nvml != nullptr) {
    host.gpus = nvml->devices();
    host.gpu_driver = nvml->driver_version();
  }
  host.machine_id = MachineId(host);
  return host;
}

}  // namespace tench
