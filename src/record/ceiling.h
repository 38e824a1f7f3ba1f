// SPDX-License-Identifier: Apache-2.0
#pragma once
// A measured limit of a machine, for rooflines: of arithmetic or of memory traffic. A passive
// struct; machine/ceilings.h measures it.

#include <cstdint>
#include <string>

namespace tench {

struct Ceiling {
  std::string name;        // "avx512", "avx2", …; "L1", "L2", "L3", "memory"
  int64_t threads = 0;     // that worked together
  double flops_per_s = 0;  // of an arithmetic ceiling; 0 for a bandwidth
  double bytes_per_s = 0;  // read and written; 0 for an arithmetic ceiling
  bool disturbed = false;  // the repeats differ much, so that the value may be too low

  bool operator==(const Ceiling&) const = default;
};

}  // namespace tench
