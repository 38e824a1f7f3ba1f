// SPDX-License-Identifier: Apache-2.0
#pragma once
// The instruction sets of the CPU that a kernel with intrinsics may use. Kernels without
// intrinsics are multiversioned by the compiler (target_clones) and do not ask.
//
// Thread safety: pure functions.

namespace tench::native {

// In order: each level includes the ones before it.
enum class Isa { kPortable, kAvx2, kAvx512 };

// AVX2 with fused multiply-add.
inline bool HasAvx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

inline bool HasAvx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

inline Isa WidestIsa() {
  return HasAvx512() ? Isa::kAvx512 : HasAvx2() ? Isa::kAvx2 : Isa::kPortable;
}

}  // namespace tench::native
