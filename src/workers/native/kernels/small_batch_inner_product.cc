// SPDX-License-Identifier: Apache-2.0
// Both directions are computed transposed, (features × samples), with the samples as panels and the
// weights as the operand whose elements are broadcast; the result is small and is turned at the
// end, by the thread that made it.
#include "workers/native/kernels/small_batch_inner_product.h"

#include <algorithm>

#include "workers/native/kernels/packed_gemm.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kFewestWeights = 1 << 20;  // 4 MiB
constexpr int64_t kFewestSamples = 8, kMostSamples = 32;
constexpr int64_t
    kForwardGrain = 24,
    kDataGrain = 96;  // features; of the data's gradient so many that a visited page is used well
constexpr int64_t kDepthAtOnce = 256;

int64_t Width(const DenseShape& shape) { return PanelCount(shape.batch) * kPanelWidth; }

// Samples (batch, depth) as panels of (depth × 16 samples).
void PackSamples(const DenseShape& shape, const float* from, int64_t depth, float* panels) {
  ParallelFor(PanelCount(shape.batch), 1, [&](int64_t first, int64_t last) {
    PackPanels(from, 1, depth, depth, shape.batch, first, last, panels);
  });
}

}  // namespace

bool FavoursSmallBatchInnerProduct(const DenseShape& shape) {
  return WidestVectorsAreAvx2() && shape.in * shape.out >= kFewestWeights &&
         shape.batch >= kFewestSamples && shape.batch <= kMostSamples;
}

int64_t SmallBatchInnerProductScratch(const DenseShape& shape) {
  return Width(shape) * (shape.in + shape.out);
}

void SmallBatchInnerProductForward(const DenseShape& shape, const float* x, const float* weights,
                                   const float* bias, bool relu, float* y, float* scratch) {
  const int64_t width = Width(shape);
  float *panels = scratch, *turned = scratch + shape.in * width;
  PackSamples(shape, x, shape.in, panels);
  ParallelFor(shape.out, kForwardGrain, [&](int64_t first, int64_t last) {
    Multiply({{weights + first * shape.in, shape.in, 1},
              panels,
              shape.in,
              width,
              turned + first * width,
              width,
              false},
             last - first, 0, PanelCount(shape.batch));
    for (int64_t n = 0; n < shape.batch; ++n) {
      for (int64_t o = first; o < last; ++o) {
        const float sum = turned[o * width + n] + (bias == nullptr ? 0.0f : bias[o]);
        y[n * shape.out + o] = relu && sum < 0 ? 0.0f : sum;
      }
    }
  });
}

void SmallBatchInnerProductBackwardData(const DenseShape& shape, const float* dy,
                                        const float* weights, float* dx, float* scratch) {
  const int64_t width = Width(shape);
  float *panels = scratch, *turned = scratch + shape.out * width;
  PackSamples(shape, dy, shape.out, panels);
  ParallelFor(shape.in, kDataGrain, [&](int64_t first, int64_t last) {
    // A part of the weights' rows after the other, for all features: so a row is read in long
    // pieces.
    for (int64_t row = 0; row < shape.out; row += kDepthAtOnce) {
      const int64_t depth = std::min(kDepthAtOnce, shape.out - row);
      for (int64_t panel = 0; panel < PanelCount(shape.batch); ++panel) {
        Multiply({{weights + row * shape.in + first, 1, shape.in},
                  panels + (panel * shape.out + row) * kPanelWidth,
                  depth,
                  kPanelWidth,
                  turned + first * width + panel * kPanelWidth,
                  width,
                  row > 0},
                 last - first, 0, 1);
      }
    }
    for (int64_t n = 0; n < shape.batch; ++n) {
      for (int64_t i = first; i < last; ++i) dx[n * shape.in + i] = turned[i * width + n];
    }
  });
}

}  // namespace tench::native
