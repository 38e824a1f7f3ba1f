// SPDX-License-Identifier: Apache-2.0
// Applies TENCH_ISA to every kernel of this executable, also to those with one clone per
// instruction set. GCC selects a clone once, while the program is loaded, by the features that
// libgcc's __cpu_indicator_init stores. The linker's --wrap replaces that function by one that then
// removes the features beyond the limit.
//
// It runs before the C library is initialized, so it uses system calls only. The numbers of the
// features are part of GCC's ABI, because compiled programs contain them. A test compares the
// limit with __builtin_cpu_supports.
#ifdef __x86_64__

#include <cstddef>

namespace {

struct CpuModel {
  unsigned vendor, type, subtype, features;
};

constexpr unsigned kFirstBeyondSse42 = 9, kFirstBeyondAvx = 10, kFirstAvx512 = 15;
constexpr unsigned kAvx512BeforeBmi = 1u << kFirstAvx512;
constexpr unsigned kFirstAvx512AfterPclmul = 20;
constexpr unsigned kLevel3 = 1u << 1, kLevel4 = 1u << 2;  // x86-64-v3 and -v4, in the third word

// Zero-initialized memory, because the stack of the loader may be small.
char environment[1 << 16];
bool limited = false;

[[gnu::no_stack_protector]] long SystemCall(long number, long a, long b, long c) {
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c)
               : "rcx", "r11", "memory");
  return result;
}

// Whether the text at `at` begins with `word`. No memcmp: the C library selects it in the same way,
// possibly later.
[[gnu::no_stack_protector]] bool Begins(const char* at, const char* word) {
  while (*word != '\0' && *at == *word) ++at, ++word;
  return *word == '\0';
}

// The value of TENCH_ISA; "" without it.
[[gnu::no_stack_protector]] const char* Limit() {
  constexpr long kRead = 0, kOpen = 2, kClose = 3;
  const long file = SystemCall(kOpen, reinterpret_cast<long>("/proc/self/environ"), 0, 0);
  if (file < 0) return "";
  size_t size = 0;
  while (size + 1 < sizeof environment) {
    const long got = SystemCall(kRead, file, reinterpret_cast<long>(environment + size),
                                static_cast<long>(sizeof environment - 1 - size));
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  SystemCall(kClose, file, 0, 0);
  for (size_t begin = 0; begin < size; ++begin) {
    if (Begins(environment + begin, "TENCH_ISA=")) return environment + begin + sizeof "TENCH_ISA";
    while (begin < size && environment[begin] != '\0') ++begin;
  }
  return "";
}

}  // namespace

extern "C" {

extern CpuModel __cpu_model;         // NOLINT(bugprone-reserved-identifier)
extern unsigned __cpu_features2[3];  // NOLINT(bugprone-reserved-identifier)
int __real___cpu_indicator_init();   // NOLINT(bugprone-reserved-identifier)

// NOLINTNEXTLINE(bugprone-reserved-identifier)
[[gnu::no_stack_protector]] int __wrap___cpu_indicator_init() {
  const int result = __real___cpu_indicator_init();
  if (limited) return result;
  limited = true;
  const char* isa = Limit();
  const bool avx512 = Begins(isa, "avx512"), avx2 = Begins(isa, "avx2"), avx = Begins(isa, "avx");
  if (avx512) return result;
  if (Begins(isa, "sse41") || (avx && !avx2)) {
    __cpu_model.features &= (1u << (avx ? kFirstBeyondAvx : kFirstBeyondSse42)) - 1;
    __cpu_features2[2] &= ~(kLevel3 | kLevel4);
  } else if (avx2) {
    __cpu_model.features &= (1u << kFirstAvx512AfterPclmul) - 1;
    __cpu_model.features &= ~kAvx512BeforeBmi;
    __cpu_features2[2] &= ~kLevel4;
  } else {
    return result;
  }
  __cpu_features2[0] = __cpu_features2[1] = 0;  // extensions of AVX2 and AVX-512
  return result;
}

}  // extern "C"

#endif
