// SPDX-License-Identifier: Apache-2.0
#pragma once
// Energy of the CPU packages, from the kernel's powercap counters (RAPL; Intel and AMD). The value
// covers the whole machine, other load included. Zones are matched by name: one per package, or per
// die ("package-0-die-1"). Counters that are absent or readable by root only give no value;
// Problem() says why.
//
// Invariants: Poll is called at least every few minutes, because the counters wrap.
// Thread safety: none. The files are opened once.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/energy_use.h"

namespace tench {

class EnergyMeter {
 public:
  explicit EnergyMeter(const std::filesystem::path& powercap = "/sys/class/powercap");

  // Resets the energy to zero.
  void Start();
  void Poll();
  // The energy from Start to the last Poll; nullopt if a read of any package failed.
  std::optional<double> Joules() const;
  size_t packages() const { return domains_.size(); }
  std::string Names() const;                               // "package-0 package-1"
  const std::string& Problem() const { return problem_; }  // one line; "" if readable

 private:
  struct Domain {
    std::string name;  // "package-0"
    Fd file;
    int64_t range_uj = 0;  // the counter wraps to 0 after this
    int64_t last_uj = 0;
  };

  std::vector<Domain> domains_;
  std::string problem_;
  int64_t used_uj_ = 0;
  bool known_ = false;
};

// The energy between two moments of a meter that is polled by others meanwhile, and the rules for
// a value: counters have a resolution of about a millisecond, so a short window has none.
class EnergyWindow {
 public:
  static constexpr int64_t kShortestNs = 1'000'000'000;
  static constexpr int64_t kFewestReadings = 3;

  // Begins, or begins anew.
  void Begin(EnergyMeter& meter, int64_t now_ns);
  // Notes a poll of the meter within the window.
  void Polled() { readings_ += begun_ ? 1 : 0; }
  // `idle_w` may be unknown.
  EnergyUse End(EnergyMeter& meter, int64_t now_ns, std::optional<double> idle_w) const;

 private:
  bool begun_ = false;
  int64_t begin_ns_ = 0, readings_ = 0;
  std::optional<double> begin_j_;
};

// The power over the next `duration_ns`, in which the caller's machine should be idle. nullopt
// without counters, at once.
std::optional<double> MeasureIdleWatts(EnergyMeter& meter, int64_t duration_ns);

}  // namespace tench
