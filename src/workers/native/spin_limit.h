// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits how long libgomp's threads spin at a barrier. libgomp reads its environment when it is
// loaded, so the program sets it and executes itself again. Call it first in main().

#include <unistd.h>

#include <cstdlib>

namespace tench::native {

// A thread at a barrier spins for some hundred microseconds, which bridges the gap between two
// steps, and then sleeps. By default it would spin for milliseconds. On a busy machine those cost
// nearly everything: the awaited thread does not get a CPU.
inline void LimitSpinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "30000", 1);
  execv("/proc/self/exe", argv);  // on failure libgomp's default stays
}

}  // namespace tench::native
