// SPDX-License-Identifier: Apache-2.0
// The microkernel is a register-blocked accumulator tile of up to 6 (AVX2) or 14 (AVX-512) rows ×
// kPanelWidth columns. The depth is blocked so that a panel's block stays in the L1 cache for all
// rows, and the rows so that their block of A stays in L2 (Goto and van de Geijn 2008).
#include "workers/native/kernels/packed_gemm.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <span>

namespace tench::native {
namespace {

constexpr int64_t kDepthBlock = 256;  // 16 KiB of a panel
constexpr int64_t kRowBlock = 96;

// c (rows × columns) (+)= a (rows × depth) · panel
using TileKernel = void (*)(const Matrix& a, const float* panel, int64_t depth, float* c,
                            int64_t c_stride, int64_t columns, bool accumulate);

template <int64_t kRows>
void StoreTile(const float (&tile)[kRows][kPanelWidth], float* c, int64_t c_stride, int64_t columns,
               bool accumulate) {
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t i = 0; i < columns; ++i)
      c[r * c_stride + i] = (accumulate ? c[r * c_stride + i] : 0.0f) + tile[r][i];
  }
}

template <int64_t kRows>
void PortableTile(const Matrix& a, const float* panel, int64_t depth, float* c, int64_t c_stride,
                  int64_t columns, bool accumulate) {
  float tile[kRows][kPanelWidth] = {};
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t r = 0; r < kRows; ++r) {
      const float factor = a.data[r * a.row_stride + k * a.k_stride];
      for (int64_t i = 0; i < kPanelWidth; ++i) tile[r][i] += factor * panel[k * kPanelWidth + i];
    }
  }
  StoreTile<kRows>(tile, c, c_stride, columns, accumulate);
}

#ifdef __x86_64__
template <int64_t kRows>
[[gnu::target("avx2,fma")]] void WideTile(const Matrix& a, const float* panel, int64_t depth,
                                          float* c, int64_t c_stride, int64_t columns,
                                          bool accumulate) {
  __m256 sum[kRows][2];
  const bool whole = columns == kPanelWidth;
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r) {
    sum[r][0] = accumulate && whole ? _mm256_loadu_ps(c + r * c_stride) : _mm256_setzero_ps();
    sum[r][1] = accumulate && whole ? _mm256_loadu_ps(c + r * c_stride + 8) : _mm256_setzero_ps();
  }
  const float* factors = a.data;
  for (int64_t k = 0; k < depth; ++k, panel += kPanelWidth, factors += a.k_stride) {
    const __m256 left = _mm256_loadu_ps(panel), right = _mm256_loadu_ps(panel + 8);
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(factors + r * a.row_stride);
      sum[r][0] = _mm256_fmadd_ps(left, factor, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(right, factor, sum[r][1]);
    }
  }
  if (!whole) {
    float tile[kRows][kPanelWidth];
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      _mm256_storeu_ps(tile[r], sum[r][0]);
      _mm256_storeu_ps(tile[r] + 8, sum[r][1]);
    }
    StoreTile<kRows>(tile, c, c_stride, columns, accumulate);
    return;
  }
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r) {
    _mm256_storeu_ps(c + r * c_stride, sum[r][0]);
    _mm256_storeu_ps(c + r * c_stride + 8, sum[r][1]);
  }
}

// A panel row is one vector. Fourteen accumulators hide the latency of the multiply-add.
template <int64_t kRows>
[[gnu::target("avx512f")]] void WidestTile(const Matrix& a, const float* panel, int64_t depth,
                                           float* c, int64_t c_stride, int64_t columns,
                                           bool accumulate) {
  const auto used = static_cast<__mmask16>((1u << columns) - 1);
  __m512 sum[kRows];
#pragma GCC unroll 14
  for (int64_t r = 0; r < kRows; ++r)
    sum[r] = accumulate ? _mm512_maskz_loadu_ps(used, c + r * c_stride) : _mm512_setzero_ps();
  const float* factors = a.data;
  for (int64_t k = 0; k < depth; ++k, panel += kPanelWidth, factors += a.k_stride) {
    const __m512 row = _mm512_loadu_ps(panel);
#pragma GCC unroll 14
    for (int64_t r = 0; r < kRows; ++r)
      sum[r] = _mm512_fmadd_ps(row, _mm512_set1_ps(factors[r * a.row_stride]), sum[r]);
  }
#pragma GCC unroll 14
  for (int64_t r = 0; r < kRows; ++r) _mm512_mask_storeu_ps(c + r * c_stride, used, sum[r]);
}
#endif

// Indexed by the number of rows less one.
std::span<const TileKernel> TileKernels([[maybe_unused]] Isa isa) {
  static constexpr TileKernel kPortable[] = {PortableTile<1>, PortableTile<2>, PortableTile<3>,
                                             PortableTile<4>, PortableTile<5>, PortableTile<6>};
#ifdef __x86_64__
  static constexpr TileKernel kWide[] = {WideTile<1>, WideTile<2>, WideTile<3>,
                                         WideTile<4>, WideTile<5>, WideTile<6>};
  static constexpr TileKernel kWidest[] = {
      WidestTile<1>,  WidestTile<2>,  WidestTile<3>,  WidestTile<4>, WidestTile<5>,
      WidestTile<6>,  WidestTile<7>,  WidestTile<8>,  WidestTile<9>, WidestTile<10>,
      WidestTile<11>, WidestTile<12>, WidestTile<13>, WidestTile<14>};
  if (isa == Isa::kAvx512) return kWidest;
  if (isa == Isa::kAvx2) return kWide;
#endif
  return kPortable;
}

// Rows [0, rows) of one panel over one depth block. Tiles of balanced height: 4 + 4 rows are faster
// than 6 + 2.
void MultiplyRows(std::span<const TileKernel> kernels, const Matrix& a, const float* panel,
                  int64_t depth, float* c, int64_t c_stride, int64_t columns, bool accumulate,
                  int64_t rows) {
  const auto most = static_cast<int64_t>(kernels.size());
  int64_t tiles = (rows + most - 1) / most;
  for (int64_t row = 0; row < rows; --tiles) {
    const int64_t height = (rows - row + tiles - 1) / tiles;
    kernels[height - 1]({a.data + row * a.row_stride, a.row_stride, a.k_stride}, panel, depth,
                        c + row * c_stride, c_stride, columns, accumulate);
    row += height;
  }
}

}  // namespace

bool WidestVectorsAreAvx2() { return WidestIsa() == Isa::kAvx2; }

int64_t PanelCount(int64_t columns) { return (columns + kPanelWidth - 1) / kPanelWidth; }

int64_t PanelFloats(int64_t depth, int64_t columns) {
  return PanelCount(columns) * kPanelWidth * depth;
}

void PackPanels(const float* from, int64_t k_stride, int64_t column_stride, int64_t depth,
                int64_t columns, int64_t first, int64_t last, float* panels) {
  for (int64_t panel = first; panel < last; ++panel) {
    float* to = panels + panel * depth * kPanelWidth;
    const int64_t used = std::min(kPanelWidth, columns - panel * kPanelWidth);
    const float* source = from + panel * kPanelWidth * column_stride;
    // The inner loop runs along the contiguous dimension of the source.
    if (column_stride == 1) {
      for (int64_t k = 0; k < depth; ++k)
        std::copy_n(source + k * k_stride, used, to + k * kPanelWidth);
    } else {
      for (int64_t column = 0; column < used; ++column) {
        for (int64_t k = 0; k < depth; ++k)
          to[k * kPanelWidth + column] = source[column * column_stride + k * k_stride];
      }
    }
    for (int64_t k = 0; used < kPanelWidth && k < depth; ++k)
      std::fill_n(to + k * kPanelWidth + used, kPanelWidth - used, 0.0f);
  }
}

void Multiply(const PanelProduct& product, int64_t rows, int64_t first_panel, int64_t last_panel,
              Isa isa) {
  const std::span<const TileKernel> kernels = TileKernels(isa);
  const Matrix& a = product.a;
  for (int64_t row = 0; row < rows; row += kRowBlock) {
    const int64_t height = std::min(kRowBlock, rows - row);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      const int64_t columns = std::min(kPanelWidth, product.columns - panel * kPanelWidth);
      float* c = product.c + row * product.c_stride + panel * kPanelWidth;
      for (int64_t k = 0; k < product.depth; k += kDepthBlock) {
        MultiplyRows(kernels,
                     {a.data + row * a.row_stride + k * a.k_stride, a.row_stride, a.k_stride},
                     product.panels + (panel * product.depth + k) * kPanelWidth,
                     std::min(kDepthBlock, product.depth - k), c, product.c_stride, columns,
                     product.accumulate || k > 0, height);
      }
    }
  }
}

void Multiply(const PanelProduct& product, int64_t rows, int64_t first_panel, int64_t last_panel) {
  static const Isa widest = WidestIsa();
  Multiply(product, rows, first_panel, last_panel, widest);
}

}  // namespace tench::native
