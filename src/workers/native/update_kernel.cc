// SPDX-License-Identifier: Apache-2.0
// The fused gradient and update of a fully connected layer is a matrix product whose result tiles are consumed where they are made:
// x and dy are packed once into panels (kColumns and kRows wide), a tile of kRows × kColumns gradients is summed in registers over the
// batch, and its weights and momenta are updated on the spot. The weights are walked in chunks of columns, so that the x panels of a
// chunk stay in the second-level cache while all rows pass by.
#include "workers/native/update_kernel.h"

#include <algorithm>

#include "workers/native/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kRows = 6;
constexpr int64_t kColumns = 16;
constexpr int64_t kPanelBytes = 128 * 1024;
constexpr int64_t kGrain = 16 * 1024;

typedef float Vector __attribute__((vector_size(32), aligned(4)));
static_assert(kColumns * sizeof(float) == 2 * sizeof(Vector));

struct Rates {
  float momentum, rate, decay;
};

[[gnu::target_clones("default", "arch=haswell", "arch=skylake-avx512")]]
void UpdateRange(float* w, float* m, const float* g, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float v = rates.momentum * m[i] + rates.rate * (g[i] + rates.decay * w[i]);
    m[i] = v;
    w[i] -= v;
  }
}

struct Tiles {
  DenseShape shape;
  const float* x_panels;    // [in / kColumns][batch][kColumns]
  const float* dy_panels;   // [out / kRows][batch][kRows]
  float* weights;           // null: store the gradient
  float* momenta;
  float* gradients;
  Rates rates;
};

[[gnu::target_clones("default", "arch=haswell", "arch=skylake-avx512")]]
void RunTiles(const Tiles& tiles, int64_t first_row_panel, int64_t last_row_panel) {
  const DenseShape shape = tiles.shape;
  const int64_t column_panels = (shape.in + kColumns - 1) / kColumns;
  const int64_t chunk = std::max<int64_t>(4, kPanelBytes / (shape.batch * kColumns * static_cast<int64_t>(sizeof(float))));
  for (int64_t chunk_begin = 0; chunk_begin < column_panels; chunk_begin += chunk) {
    const int64_t chunk_end = std::min(column_panels, chunk_begin + chunk);
    for (int64_t row_panel = first_row_panel; row_panel < last_row_panel; ++row_panel) {
      const float* dy_panel = tiles.dy_panels + row_panel * shape.batch * kRows;
      const int64_t rows = std::min(kRows, shape.out - row_panel * kRows);
      for (int64_t panel = chunk_begin; panel < chunk_end; ++panel) {
        const float* x = tiles.x_panels + panel * shape.batch * kColumns;
        const float* dy = dy_panel;
        Vector sum[kRows][2] = {};
        for (int64_t n = 0; n < shape.batch; ++n) {
          const Vector left = *reinterpret_cast<const Vector*>(x), right = *reinterpret_cast<const Vector*>(x + 8);
          for (int64_t r = 0; r < kRows; ++r) {
            sum[r][0] += left * dy[r];
            sum[r][1] += right * dy[r];
          }
          x += kColumns;
          dy += kRows;
        }
        const int64_t columns = std::min(kColumns, shape.in - panel * kColumns);
        for (int64_t r = 0; r < rows; ++r) {
          const int64_t at = (row_panel * kRows + r) * shape.in + panel * kColumns;
          if (columns == kColumns && tiles.weights != nullptr) {
            for (int64_t half = 0; half < 2; ++half) {
              Vector* w = reinterpret_cast<Vector*>(tiles.weights + at) + half;
              Vector* m = reinterpret_cast<Vector*>(tiles.momenta + at) + half;
              const Vector v = tiles.rates.momentum * *m + tiles.rates.rate * (sum[r][half] + tiles.rates.decay * *w);
              *m = v;
              *w -= v;
            }
            continue;
          }
          const float* g = reinterpret_cast<const float*>(sum[r]);
          for (int64_t c = 0; c < columns; ++c) {
            if (tiles.weights == nullptr) {
              tiles.gradients[at + c] = g[c];
              continue;
            }
            const float v = tiles.rates.momentum * tiles.momenta[at + c] + tiles.rates.rate * (g[c] + tiles.rates.decay * tiles.weights[at + c]);
            tiles.momenta[at + c] = v;
            tiles.weights[at + c] -= v;
          }
        }
      }
    }
  }
}

// (batch, width) to [width / panel][batch][panel], zeros beyond the width.
void Pack(const float* from, float* to, int64_t batch, int64_t width, int64_t panel) {
  const int64_t panels = (width + panel - 1) / panel;
  ParallelFor(panels, std::max<int64_t>(1, kGrain / (batch * panel)), [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t used = std::min(panel, width - p * panel);
      for (int64_t n = 0; n < batch; ++n) {
        float* row = to + (p * batch + n) * panel;
        std::copy_n(from + n * width + p * panel, used, row);
        std::fill(row + used, row + panel, 0.0f);
      }
    }
  });
}

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

Rates RatesOf(const UpdateRule& rule, double lr) {
  return {static_cast<float>(rule.momentum), static_cast<float>(lr * rule.lr_mult), static_cast<float>(rule.decay)};
}

void RunDense(Tiles tiles, const float* x, const float* dy, float* packed) {
  const DenseShape& shape = tiles.shape;
  float* dy_panels = packed + shape.batch * RoundUp(shape.in, kColumns);
  Pack(x, packed, shape.batch, shape.in, kColumns);
  Pack(dy, dy_panels, shape.batch, shape.out, kRows);
  tiles.x_panels = packed;
  tiles.dy_panels = dy_panels;
  ParallelFor((shape.out + kRows - 1) / kRows, std::max<int64_t>(1, kGrain / (shape.in * kRows)),
              [&](int64_t first, int64_t last) { RunTiles(tiles, first, last); });
}

}  // namespace

UpdateRule RuleOf(const Solver& solver, const Parameter& parameter) {
  return {solver.momentum, parameter.lr_mult, solver.weight_decay * parameter.decay_mult};
}

void UpdateParameter(float* weights, float* momenta, const float* gradients, int64_t count, const UpdateRule& rule, double lr) {
  const Rates rates = RatesOf(rule, lr);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    UpdateRange(weights + first, momenta + first, gradients + first, last - first, rates);
  });
}

int64_t PackedCount(const DenseShape& shape) { return shape.batch * (RoundUp(shape.in, kColumns) + RoundUp(shape.out, kRows)); }

void DenseGradient(const DenseShape& shape, const float* x, const float* dy, float* packed, float* gradients) {
  RunDense({shape, nullptr, nullptr, nullptr, nullptr, gradients, {}}, x, dy, packed);
}

void DenseUpdate(const DenseShape& shape, const float* x, const float* dy, float* packed, float* weights, float* momenta,
                 const UpdateRule& rule, double lr) {
  RunDense({shape, nullptr, nullptr, weights, momenta, nullptr, RatesOf(rule, lr)}, x, dy, packed);
}

void DenseBiasGradient(const DenseShape& shape, const float* dy, float* gradients) {
  ParallelFor(shape.out, std::max<int64_t>(64, kGrain / shape.batch), [&](int64_t first, int64_t last) {
    std::copy(dy + first, dy + last, gradients + first);
    for (int64_t n = 1; n < shape.batch; ++n) {
      for (int64_t o = first; o < last; ++o) gradients[o] += dy[n * shape.out + o];
    }
  });
}

}  // namespace tench::native
