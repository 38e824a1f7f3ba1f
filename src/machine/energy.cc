// SPDX-License-Identifier: Apache-2.0
#include "machine/energy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/clock.h"
#include "base/text.h"
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
  if (domains_.empty())
    problem_ =
        fmt::format("no RAPL counters in {} (a virtual machine, or no driver intel_rapl_msr)",
                    powercap.string());
  // With an unreadable package, the sum would be too small, so there is no value at all.
  const auto unreadable = [](const Domain& domain) { return !domain.file.valid(); };
  if (std::any_of(domains_.begin(), domains_.end(), unreadable)) {
    problem_ = fmt::format(
        "no permission to read {0}/intel-rapl:*/energy_uj: as root, chmod a+r {0}/intel-rapl:*/"
        "energy_uj",
        powercap.string());
    domains_.clear();
  }
  Start();
}

std::string EnergyMeter::Names() const {
  std::vector<std::string> names;
  for (const Domain& domain : domains_) names.push_back(domain.name);
  return Join(names, " ");
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

void EnergyWindow::Begin(EnergyMeter& meter, int64_t now_ns) {
  meter.Poll();
  begun_ = true;
  begin_ns_ = now_ns;
  readings_ = 1;
  begin_j_ = meter.Joules();
}

EnergyUse EnergyWindow::End(EnergyMeter& meter, int64_t now_ns,
                            std::optional<double> idle_w) const {
  EnergyUse use;
  use.packages = meter.Names();
  use.problem = meter.Problem();
  if (!use.problem.empty()) return use;
  if (!begun_) {
    use.problem = "the run had no timed steps";
    return use;
  }
  meter.Poll();
  const std::optional<double> end_j = meter.Joules();
  use.window_ns = now_ns - begin_ns_;
  use.readings = readings_ + 1;
  use.idle_w = idle_w;
  if (!begin_j_ || !end_j) {
    use.problem = "a counter could not be read during the run";
  } else if (use.window_ns < kShortestNs || use.readings < kFewestReadings) {
    use.problem = fmt::format("the timed steps took {} ({} readings); energy needs at least {}",
                              HumanNs(static_cast<double>(use.window_ns)), use.readings,
                              HumanNs(static_cast<double>(kShortestNs)));
  } else {
    use.joules = *end_j - *begin_j_;
  }
  return use;
}

std::optional<double> MeasureIdleWatts(EnergyMeter& meter, int64_t duration_ns) {
  if (meter.packages() == 0) return std::nullopt;
  meter.Start();
  const int64_t begin_ns = NowNs();
  SystemClock().SleepUntil(begin_ns + duration_ns);
  meter.Poll();
  const std::optional<double> joules = meter.Joules();
  if (!joules) return std::nullopt;
  return *joules / (static_cast<double>(NowNs() - begin_ns) * 1e-9);
}

}  // namespace tench
