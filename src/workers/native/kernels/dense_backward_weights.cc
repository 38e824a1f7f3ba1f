// SPDX-License-Identifier: Apache-2.0
// Both variants are a GEMM with a register-blocked accumulator tile of kRows × kColumns weight
// gradients, summed over the batch, and x and dy packed into panels of kColumns and kRows.
//
// Fused with SGD, x and dy are packed once by all threads, and each finished tile updates its
// weights and momenta. The columns are blocked so that the x panels of a block stay in the L2 cache
// for all rows.
//
// A stored gradient is accumulated over blocks of the batch. Each thread packs a block of x and of
// its rows of dy, which stay in its caches until they are used.
#include "workers/native/kernels/dense_backward_weights.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <omp.h>

#include <algorithm>

#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kRows = 6;
constexpr int64_t kColumns = 16;
constexpr int64_t kPanelBytes = 128 * 1024;
constexpr int64_t kDepthBlock = 256;  // 16 KiB of an x panel
constexpr int64_t kGrain = 16 * 1024;

int64_t PanelsIn(int64_t width, int64_t panel) { return (width + panel - 1) / panel; }

struct Tiles;
using TileKernel = void (*)(const Tiles&, const float* x, const float* dy, int64_t row,
                            int64_t column);

struct Tiles {
  TileKernel kernel;
  DenseShape shape;
  const float* x_panels;   // [in / kColumns][batch][kColumns]
  const float* dy_panels;  // [out / kRows][batch][kRows]
  float* weights;          // null: store the gradient
  float* momenta;
  float* gradients;
  SgdRates rates;
  int64_t depth;    // samples of the panels
  bool accumulate;  // add to the stored gradient
};

// Stores a finished tile or updates its weights, for tiles at the edge of the matrix too.
void ApplyTile(const Tiles& tiles, const float (&tile)[kRows][kColumns], int64_t row,
               int64_t column) {
  const DenseShape& shape = tiles.shape;
  const int64_t rows = std::min(kRows, shape.out - row),
                columns = std::min(kColumns, shape.in - column);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = (row + r) * shape.in + column;
    if (tiles.weights == nullptr) {
      for (int64_t c = 0; c < columns; ++c)
        tiles.gradients[at + c] = (tiles.accumulate ? tiles.gradients[at + c] : 0.0f) + tile[r][c];
      continue;
    }
    for (int64_t c = 0; c < columns; ++c) {
      const float v = tiles.rates.momentum * tiles.momenta[at + c] +
                      tiles.rates.rate * (tile[r][c] + tiles.rates.decay * tiles.weights[at + c]);
      tiles.momenta[at + c] = v;
      tiles.weights[at + c] -= v;
    }
  }
}

void PortableTile(const Tiles& tiles, const float* x, const float* dy, int64_t row,
                  int64_t column) {
  float tile[kRows][kColumns] = {};
  for (int64_t n = 0; n < tiles.depth; ++n) {
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < kColumns; ++c) tile[r][c] += dy[n * kRows + r] * x[n * kColumns + c];
    }
  }
  ApplyTile(tiles, tile, row, column);
}

#ifdef __x86_64__
// With intrinsics, since the compiler spills the accumulator tile of PortableTile to memory.
[[gnu::target("avx2,fma")]] void WideTile(const Tiles& tiles, const float* x, const float* dy,
                                          int64_t row, int64_t column) {
  __m256 sum[kRows][2];
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
  for (int64_t n = 0; n < tiles.depth; ++n, x += kColumns, dy += kRows) {
    const __m256 left = _mm256_loadu_ps(x), right = _mm256_loadu_ps(x + 8);
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(dy + r);
      sum[r][0] = _mm256_fmadd_ps(left, factor, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(right, factor, sum[r][1]);
    }
  }
  const DenseShape& shape = tiles.shape;
  const bool whole = row + kRows <= shape.out && column + kColumns <= shape.in;
  if (tiles.weights == nullptr && whole) {
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      float* g = tiles.gradients + (row + r) * shape.in + column;
      _mm256_storeu_ps(g,
                       tiles.accumulate ? _mm256_add_ps(_mm256_loadu_ps(g), sum[r][0]) : sum[r][0]);
      _mm256_storeu_ps(
          g + 8, tiles.accumulate ? _mm256_add_ps(_mm256_loadu_ps(g + 8), sum[r][1]) : sum[r][1]);
    }
    return;
  }
  if (!whole) {
    float tile[kRows][kColumns];
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      _mm256_storeu_ps(tile[r], sum[r][0]);
      _mm256_storeu_ps(tile[r] + 8, sum[r][1]);
    }
    ApplyTile(tiles, tile, row, column);
    return;
  }
  const __m256 momentum = _mm256_set1_ps(tiles.rates.momentum),
               rate = _mm256_set1_ps(tiles.rates.rate), decay = _mm256_set1_ps(tiles.rates.decay);
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int64_t half = 0; half < 2; ++half) {
      float* w = tiles.weights + (row + r) * shape.in + column + 8 * half;
      float* m = tiles.momenta + (row + r) * shape.in + column + 8 * half;
      const __m256 weight = _mm256_loadu_ps(w);
      const __m256 gradient = _mm256_fmadd_ps(decay, weight, sum[r][half]);
      const __m256 v = _mm256_fmadd_ps(momentum, _mm256_loadu_ps(m), _mm256_mul_ps(rate, gradient));
      _mm256_storeu_ps(m, v);
      _mm256_storeu_ps(w, _mm256_sub_ps(weight, v));
    }
  }
}
#endif

TileKernel TileKernelOf([[maybe_unused]] Isa isa) {
#ifdef __x86_64__
  if (isa != Isa::kPortable) return WideTile;
#endif
  return PortableTile;
}

void RunTiles(const Tiles& tiles, int64_t first_row_panel, int64_t last_row_panel) {
  const DenseShape& shape = tiles.shape;
  const int64_t column_panels = PanelsIn(shape.in, kColumns);
  const int64_t column_block = std::max<int64_t>(
      4, kPanelBytes /
             (std::max<int64_t>(1, shape.batch) * kColumns * static_cast<int64_t>(sizeof(float))));
  for (int64_t block_begin = 0; block_begin < column_panels; block_begin += column_block) {
    const int64_t block_end = std::min(column_panels, block_begin + column_block);
    for (int64_t row_panel = first_row_panel; row_panel < last_row_panel; ++row_panel) {
      const float* dy = tiles.dy_panels + row_panel * shape.batch * kRows;
      for (int64_t panel = block_begin; panel < block_end; ++panel) {
        tiles.kernel(tiles, tiles.x_panels + panel * shape.batch * kColumns, dy, row_panel * kRows,
                     panel * kColumns);
      }
    }
  }
}

// Panels [first, last) of (batch, width) to [panel][batch][kPanel], zeros beyond the width. A whole
// panel's row has a constant size, which compiles to vector moves.
template <int64_t kPanel>
void PackPanels(const float* from, float* to, int64_t batch, int64_t width, int64_t first,
                int64_t last) {
  for (int64_t p = first; p < last; ++p, to += batch * kPanel) {
    const int64_t used = std::min(kPanel, width - p * kPanel);
    const float* source = from + p * kPanel;
    if (used == kPanel) {
      for (int64_t n = 0; n < batch; ++n) std::copy_n(source + n * width, kPanel, to + n * kPanel);
      continue;
    }
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t i = 0; i < kPanel; ++i)
        to[n * kPanel + i] = i < used ? source[n * width + i] : 0.0f;
    }
  }
}

template <int64_t kPanel>
void Pack(const float* from, float* to, int64_t batch, int64_t width) {
  ParallelFor(PanelsIn(width, kPanel),
              std::max<int64_t>(1, kGrain / (std::max<int64_t>(1, batch) * kPanel)),
              [&](int64_t first, int64_t last) {
                PackPanels<kPanel>(from, to + first * batch * kPanel, batch, width, first, last);
              });
}

// The rows of panels [first, last) of the stored gradient.
void AccumulateRows(Tiles tiles, const float* x, const float* dy, float* packed, int64_t first,
                    int64_t last) {
  const DenseShape& shape = tiles.shape;
  const int64_t column_panels = PanelsIn(shape.in, kColumns);
  float* dy_packed = packed + kDepthBlock * column_panels * kColumns;
  for (int64_t begin = 0; begin == 0 || begin < shape.batch; begin += kDepthBlock) {
    tiles.depth = std::min(kDepthBlock, shape.batch - begin);
    tiles.accumulate = begin > 0;
    PackPanels<kColumns>(x + begin * shape.in, packed, tiles.depth, shape.in, 0, column_panels);
    PackPanels<kRows>(dy + begin * shape.out, dy_packed, tiles.depth, shape.out, first, last);
    // A block of an x panel stays in the L1 cache for all rows.
    for (int64_t panel = 0; panel < column_panels; ++panel) {
      for (int64_t row_panel = first; row_panel < last; ++row_panel) {
        tiles.kernel(tiles, packed + panel * tiles.depth * kColumns,
                     dy_packed + (row_panel - first) * tiles.depth * kRows, row_panel * kRows,
                     panel * kColumns);
      }
    }
  }
}

// Floats of scratch of one of `threads` threads.
int64_t ThreadScratch(const DenseShape& shape, int64_t threads) {
  const int64_t row_panels = (PanelsIn(shape.out, kRows) + threads - 1) / threads;
  return kDepthBlock * (PanelsIn(shape.in, kColumns) * kColumns + row_panels * kRows);
}

}  // namespace

int64_t DenseBackwardWeightsScratch(const DenseShape& shape) {
  const int64_t threads = omp_get_max_threads();
  return threads * ThreadScratch(shape, threads);
}

void DenseBackwardWeights(const DenseShape& shape, const float* x, const float* dy, float* scratch,
                          float* gradients, Isa isa) {
  const int64_t row_panels = PanelsIn(shape.out, kRows);
  const TileKernel kernel = TileKernelOf(isa);
#pragma omp parallel
  {
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    AccumulateRows({kernel, shape, nullptr, nullptr, nullptr, nullptr, gradients, {}, 0, false}, x,
                   dy, scratch + thread * ThreadScratch(shape, threads),
                   row_panels * thread / threads, row_panels * (thread + 1) / threads);
  }
}

int64_t DenseBackwardWeightsSgdScratch(const DenseShape& shape) {
  return shape.batch *
         (PanelsIn(shape.in, kColumns) * kColumns + PanelsIn(shape.out, kRows) * kRows);
}

void DenseBackwardWeightsSgd(const DenseShape& shape, const float* x, const float* dy,
                             float* scratch, float* weights, float* momenta, const UpdateRule& rule,
                             double lr, Isa isa) {
  float* dy_panels = scratch + shape.batch * PanelsIn(shape.in, kColumns) * kColumns;
  Pack<kColumns>(x, scratch, shape.batch, shape.in);
  Pack<kRows>(dy, dy_panels, shape.batch, shape.out);
  const Tiles tiles{TileKernelOf(isa), shape,   scratch,           dy_panels,   weights,
                    momenta,           nullptr, RatesOf(rule, lr), shape.batch, false};
  ParallelFor(PanelsIn(shape.out, kRows), std::max<int64_t>(1, kGrain / (shape.in * kRows)),
              [&](int64_t first, int64_t last) { RunTiles(tiles, first, last); });
}

void DenseBackwardBias(const DenseShape& shape, const float* dy, float* gradients) {
  ParallelFor(shape.out, std::max<int64_t>(64, kGrain / shape.batch),
              [&](int64_t first, int64_t last) {
                std::copy(dy + first, dy + last, gradients + first);
                for (int64_t n = 1; n < shape.batch; ++n) {
                  for (int64_t o = first; o < last; ++o) gradients[o] += dy[n * shape.out + o];
                }
              });
}

}  // namespace tench::native
