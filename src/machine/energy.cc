// SPDX-License-Identifier: Apache-2.0
#include "machine/energy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "machine/system_file.h"

namespace tench {
namespace {

std::optional<int64_t> ReadCounter(const Fd& file) {
  std::array<char, 32> text;
  const ssize_t got = pread(file.get(), text.data(), text.size(), 0);
  int64_t value = 0;
  if (got <= 0 || std::from_chars(text.data(), text.data() + got, value).ec != std::errc{})
    return {};
  return value;
}

}  // namespace

EnergyMeter::EnergyMeter(const std::filesystem::path& powercap) {
  std::vector<std::string> zones = ListFolder(powercap);
  // powercap may list a package twice, through MSRs ("intel-rapl") and through MMIO
  // ("intel-rapl-mmio"). The MSR zone is preferred.
  const auto is_usual = [](const std::string& zone) { return zone.starts_with("intel-rapl:"); };
  std::stable_partition(zones.begin(), zones.end(), is_usual);
  for (const std::string& zone : zones) {
    if (!zone.starts_with("intel-rapl")) continue;
    const std::filesystem::path folder = powercap / zone;
    // Only packages are comparable between machines: "core" and "dram" are subzones of a package,
    // and "psys" is the whole platform.
    const std::string name = ReadSystemFile(folder / "name").value_or("");
    const auto same = [&](const Domain& domain) { return domain.name == name; };
    if (!name.starts_with("package") || std::any_of(domains_.begin(), domains_.end(), same))
      continue;
    Domain domain;
    domain.name = name;
    domain.file = Fd(open((folder / "energy_uj").c_str(), O_RDONLY | O_CLOEXEC));
    domain.range_uj = ReadSystemInteger(folder / "max_energy_range_uj").value_or(0);
    domains_.push_back(std::move(domain));
  }
  // With an unreadable package, the sum would be too small, so there is no value at all.
  const auto readable = [](const Domain& domain) { return domain.file.valid(); };
  if (!std::all_of(domains_.begin(), domains_.end(), readable)) domains_.clear();
  Start();
}

void EnergyMeter::Start() {
  used_uj_ = 0;
  known_ = !domains_.empty();
  for (Domain& domain : domains_) {
    const auto now_uj = ReadCounter(domain.file);
    if (!now_uj) known_ = false;
    domain.last_uj = now_uj.value_or(0);
  }
}

void EnergyMeter::Poll() {
  for (Domain& domain : domains_) {
    const auto now_uj = ReadCounter(domain.file);
    if (!now_uj || (*now_uj < domain.last_uj && domain.range_uj <= 0)) {
      known_ = false;
      return;
    }
    used_uj_ += *now_uj - domain.last_uj + (*now_uj < domain.last_uj ? domain.range_uj : 0);
    domain.last_uj = *now_uj;
  }
}

std::optional<double> EnergyMeter::Joules() const {
  if (!known_) return {};
  return static_cast<double>(used_uj_) * 1e-6;
}

}  // namespace tench
