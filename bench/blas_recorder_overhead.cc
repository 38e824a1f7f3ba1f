// SPDX-License-Identifier: Apache-2.0
// Measures the overhead of the BLAS recorder per call: vector sums of one element, without the
// recorder, with the recorder but without a folder, and recording. The program starts itself with
// the preloaded library.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"

extern "C" void cblas_saxpy(int n, float alpha, const float* x, int incx, float* y, int incy);

namespace {

void Measure(const char* name) {
  constexpr int kCalls = 2'000'000, kWindows = 5;
  const float x = 1;
  float y = 0;
  double best_ns = 1e9;
  for (int window = 0; window < kWindows; ++window) {
    const int64_t begin_ns = tench::NowNs();
    for (int i = 0; i < kCalls; ++i) cblas_saxpy(1, 0.5f, &x, 1, &y, 1);
    best_ns = std::min(best_ns, static_cast<double>(tench::NowNs() - begin_ns) / kCalls);
  }
  std::printf("%-30s %6.1f ns per call\n", name, best_ns);
}

}  // namespace

int main(int, char** argv) {
  const char* stage = std::getenv("TENCH_BENCH_STAGE");
  if (stage == nullptr) {
    Measure("without the recorder");
    std::fflush(stdout);
    setenv("LD_PRELOAD", TENCH_BLAS_RECORDER, 1);
    setenv("TENCH_BENCH_STAGE", "idle", 1);
  } else if (std::strcmp(stage, "idle") == 0) {
    Measure("preloaded, not recording");
    std::fflush(stdout);
    // Cannot be written to, so that no file is left.
    setenv("TENCH_BLAS_CENSUS", "/proc/self", 1);
    setenv("TENCH_BENCH_STAGE", "recording", 1);
  } else {
    Measure("recording");
    return 0;
  }
  execv("/proc/self/exe", argv);
  return 1;
}
