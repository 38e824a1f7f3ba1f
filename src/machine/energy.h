// SPDX-License-Identifier: Apache-2.0
#pragma once
// Energy of the CPU packages, from the kernel's powercap counters (RAPL; Intel and AMD). The value
// covers the whole machine, other load included. Counters that are absent or readable by root only
// give no value and no error.
//
// Invariants: Poll is called at least every few minutes, because the counters wrap.
// Thread safety: none. The files are opened once.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

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

 private:
  struct Domain {
    std::string name;  // "package-0"
    Fd file;
    int64_t range_uj = 0;  // the counter wraps to 0 after this
    int64_t last_uj = 0;
  };

  std::vector<Domain> domains_;
  int64_t used_uj_ = 0;
  bool known_ = false;
};

}  // namespace tench
