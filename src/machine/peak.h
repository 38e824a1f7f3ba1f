// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine can do at best, measured: floating-point operations by a matrix product whose
// panels stay in the caches, and bytes by y += a·x over arrays that no cache holds. The yardstick
// for every GFLOP/s that tench prints. Runs on threads of its own for about half a second; on a
// machine that does other work at the same time it tells what is left.

#include <cstdint>

namespace tench {

struct Peak {
  int64_t threads = 0;
  double flops_per_s = 0;  // f32, with the widest vectors that are known here and the CPU has
  double bytes_per_s = 0;  // read and written
};

Peak MeasurePeak(int64_t threads);

// C += A·B once, by the kernel that MeasurePeak times: for its test. A is (m, k), B (k, n), row by
// row; m and n are those of PeakTile.
struct PeakTile {
  int64_t rows = 0, columns = 0;
};
PeakTile TileOfThisCpu();
void MultiplyTile(const float* a_columns, const float* b_rows, float* c, int64_t depth);

}  // namespace tench
