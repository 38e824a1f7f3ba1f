// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measured peak performance of this machine: FLOP/s of a cache-blocked matrix product, and bytes/s
// of y += a·x over arrays that exceed every cache. The reference for every GFLOP/s that tench
// prints. Runs on its own threads for about half a second. Other load on the machine lowers both
// values.

#include <cstdint>

namespace tench {

struct Peak {
  int64_t threads = 0;
  double flops_per_s = 0;  // f32, with the widest supported vectors
  double bytes_per_s = 0;  // read and written
};

Peak MeasurePeak(int64_t threads);
// Only the FLOP/s, in about a quarter of a second.
double MeasurePeakFlops(int64_t threads);

// For tests: C += A·B once, by the kernel that MeasurePeak times. A is (m, k), B (k, n), row-major;
// m and n are those of PeakTile.
struct PeakTile {
  int64_t rows = 0, columns = 0;
};
PeakTile TileOfThisCpu();
void MultiplyTile(const float* a_columns, const float* b_rows, float* c, int64_t depth);

}  // namespace tench
