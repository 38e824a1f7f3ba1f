// SPDX-License-Identifier: Apache-2.0
#pragma once
// The axis `isa`: limits the vector instructions of a worker's libraries by their environment
// variables. Not aware of whether a library obeys; see isa_evidence.h.
//
// Thread safety: pure functions.

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "machine/cpu.h"

namespace tench {

inline constexpr const char* kWidestIsa = "widest";

// The position of "sse41", "avx", "avx2" and "avx512", from 1; 0 for any other text.
int IsaRank(std::string_view isa);

// The variables that limit oneDNN, ATen, MKL, OpenBLAS, BLIS and this project's own code
// (TENCH_ISA); none for "widest".
std::map<std::string, std::string> IsaVariables(std::string_view isa);

// The widest of the four that the CPU has; "" for another architecture.
std::string WidestIsaOf(const CpuFacts& cpu);

// Fails if the CPU lacks the instructions; one line for the user.
Status CheckIsa(std::string_view isa, const CpuFacts& cpu);

}  // namespace tench
