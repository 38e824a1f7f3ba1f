// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ceilings of a roofline, measured on this machine: FLOP/s of register-resident multiply-adds
// for each vector instruction set that the CPU has, and the bandwidth of y += a·x over arrays that
// fit into each cache level and over arrays that fit into none. Best of several windows; a ceiling
// is `disturbed` if the windows differ much. Takes about a quarter of a second per thread count.
// Other load on the machine lowers the values.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/cpu.h"
#include "record/ceiling.h"

namespace tench {

// "sse41", "avx", "avx2", "avx512": those that this CPU has, ascending; empty on other
// architectures.
std::vector<std::string> VectorIsas();

// For each number of threads: the arithmetic ceilings, then the bandwidths from the nearest level
// to memory. `cpu` tells the caches.
std::vector<Ceiling> MeasureCeilings(const CpuFacts& cpu, std::span<const int64_t> threads);

// For tests: runs the multiply-add kernel of an instruction set of VectorIsas() `count` times and
// returns one of its sums: after n rounds of s = s · x + y from s = 0, that is y · (1 + x + … +
// x^(n-1)).
float RunMultiplyAdds(const std::string& isa, int64_t count, float x, float y);

}  // namespace tench
