// SPDX-License-Identifier: Apache-2.0
// Prints the instruction sets that the clones of a program linked with cpu_limit_main.cc may use.
#include <cstdio>

int main() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.1")) std::puts("sse41");
  if (__builtin_cpu_supports("avx")) std::puts("avx");
  if (__builtin_cpu_supports("avx2")) std::puts("avx2");
  if (__builtin_cpu_supports("avx512f")) std::puts("avx512");
  return 0;
}
