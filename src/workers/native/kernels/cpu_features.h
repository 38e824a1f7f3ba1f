// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this CPU can do, for kernels that are written for one width of vectors.

namespace tench::native {

// AVX2 with fused multiply-adds.
inline bool HasAvx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

// Vectors twice as wide as AVX2's.
inline bool HasAvx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace tench::native
