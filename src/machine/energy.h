// SPDX-License-Identifier: Apache-2.0
#pragma once
// The energy that the CPU packages used, from the kernel's powercap counters (RAPL; Intel and AMD).
// It is the whole machine's: other load is in it. Absent, or readable by root only, there is no
// value, and nothing is said. Poll it at least every few minutes, as the counters wrap. Opens its
// files once; not for two threads at a time.

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

  // Begins at zero again.
  void Start();
  void Poll();
  // Since Start, as of the last Poll; nothing if any package could not be read all the time.
  std::optional<double> Joules() const;
  size_t packages() const { return domains_.size(); }

 private:
  struct Domain {
    std::string name;  // "package-0"
    Fd file;
    int64_t range_uj = 0;  // the counter goes from this back to 0
    int64_t last_uj = 0;
  };

  std::vector<Domain> domains_;
  int64_t used_uj_ = 0;
  bool known_ = false;
};

}  // namespace tench
