// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evicts a step's data from the caches of the process's CPUs, so that the next step begins cold: it
// writes a buffer larger than any cache from every allowed CPU. `tench bench-op --cache cold` asks
// for it with the variable TENCH_CACHE. Takes milliseconds; call it off the clock. Not thread-safe.

#include <cstddef>
#include <vector>

namespace tench {

class CacheEviction {
 public:
  static bool Requested();  // by TENCH_CACHE=cold

  CacheEviction();
  void Run();

 private:
  std::vector<int> cpus_;
  std::vector<char> buffer_;
  char value_ = 0;
};

}  // namespace tench
