// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/product.h"

namespace tench {

void AccumulatePanel(int64_t depth, const double* __restrict rows, const double* __restrict columns,
                     double* __restrict tile) {
  // Constant bounds let the compiler keep the accumulators in registers.
  double sums[kRowPanel][kColumnPanel];
  for (int64_t r = 0; r < kRowPanel; ++r) {
    for (int64_t c = 0; c < kColumnPanel; ++c) sums[r][c] = tile[r * kTileColumns + c];
  }
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t r = 0; r < kRowPanel; ++r) {
      for (int64_t c = 0; c < kColumnPanel; ++c)
        sums[r][c] += rows[k * kRowPanel + r] * columns[k * kColumnPanel + c];
    }
  }
  for (int64_t r = 0; r < kRowPanel; ++r) {
    for (int64_t c = 0; c < kColumnPanel; ++c) tile[r * kTileColumns + c] = sums[r][c];
  }
}

}  // namespace tench
