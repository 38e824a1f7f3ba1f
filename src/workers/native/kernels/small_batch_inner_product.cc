// SPDX-License-Identifier: Apache-2.0
// Both directions compute the transposed result, (features × samples): the samples are the packed
// panels, and the elements of the weights are broadcast. The result is small; the thread that
// computed a part of it transposes that part.
#include "workers/native/kernels/small_batch_inner_product.h"

#include <algorithm>

#include "workers/native/kernels/packed_gemm.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kMinWeights = 1 << 20;  // 4 MiB
constexpr int64_t kMinSamples = 8, kMaxSamples = 32;
// Features per thread. Backward-data reads columns of the weights, so more of them use a page well.
constexpr int64_t kForwardGrain = 24, kDataGrain = 96;
constexpr int64_t kDepthBlock = 256;

int64_t Width(const DenseShape& shape) { return PanelCount(shape.batch) * kPanelWidth; }

// Samples (batch, depth) as panels of (depth × 16 samples).
void PackSamples(const DenseShape& shape, const float* from, int64_t depth, float* panels) {
  ParallelFor(PanelCount(shape.batch), 1, [&](int64_t first, int64_t last) {
    PackPanels(from, 1, depth, depth, shape.batch, first, last, panels);
  });
}

}  // namespace

bool FavoursSmallBatchInnerProduct(const DenseShape& shape) {
  return WidestVectorsAreAvx2() && shape.in * shape.out >= kMinWeights &&
         shape.batch >= kMinSamples && shape.batch <= kMaxSamples;
}

int64_t SmallBatchInnerProductScratch(const DenseShape& shape) {
  return Width(shape) * (shape.in + shape.out);
}

void SmallBatchInnerProductForward(const DenseShape& shape, const float* x, const float* weights,
                                   const float* bias, bool relu, float* y, float* scratch) {
  const int64_t width = Width(shape);
  float *panels = scratch, *transposed = scratch + shape.in * width;
  PackSamples(shape, x, shape.in, panels);
  ParallelFor(shape.out, kForwardGrain, [&](int64_t first, int64_t last) {
    Multiply({{weights + first * shape.in, shape.in, 1},
              panels,
              shape.in,
              width,
              transposed + first * width,
              width,
              false},
             last - first, 0, PanelCount(shape.batch));
    for (int64_t n = 0; n < shape.batch; ++n) {
      for (int64_t o = first; o < last; ++o) {
        const float sum = transposed[o * width + n] + (bias == nullptr ? 0.0f : bias[o]);
        y[n * shape.out + o] = relu && sum < 0 ? 0.0f : sum;
      }
    }
  });
}

void SmallBatchInnerProductBackwardData(const DenseShape& shape, const float* dy,
                                        const float* weights, float* dx, float* scratch) {
  const int64_t width = Width(shape);
  float *panels = scratch, *transposed = scratch + shape.out * width;
  PackSamples(shape, dy, shape.out, panels);
  ParallelFor(shape.in, kDataGrain, [&](int64_t first, int64_t last) {
    // Blocks of weight rows outermost, so that each row is read in long pieces.
    for (int64_t row = 0; row < shape.out; row += kDepthBlock) {
      const int64_t depth = std::min(kDepthBlock, shape.out - row);
      for (int64_t panel = 0; panel < PanelCount(shape.batch); ++panel) {
        Multiply({{weights + row * shape.in + first, 1, shape.in},
                  panels + (panel * shape.out + row) * kPanelWidth,
                  depth,
                  kPanelWidth,
                  transposed + first * width + panel * kPanelWidth,
                  width,
                  row > 0},
                 last - first, 0, 1);
      }
    }
    for (int64_t n = 0; n < shape.batch; ++n) {
      for (int64_t i = first; i < last; ++i) dx[n * shape.in + i] = transposed[i * width + n];
    }
  });
}

}  // namespace tench::native
