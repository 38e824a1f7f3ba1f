// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/lstm.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>

#include "workers/native/kernels/exponential.h"
#include "workers/native/kernels/packed_gemm.h"

namespace tench::native {
namespace {

constexpr int64_t kGates = 4;
constexpr int64_t kSamplesPerThread = 4;  // fewer do not amortise the loads of the weights

struct Range {
  int64_t first = 0, last = 0;
  int64_t size() const { return last - first; }
};

Range ShareOf(int64_t count) {
  const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
  return {count * thread / threads, count * (thread + 1) / threads};
}

// The samples and the panels of hidden units that one thread computes in each time step.
struct Part {
  Range samples, panels, units;
};

Part PartOf(const LstmShape& shape, LstmSplit split) {
  const int64_t panels = PanelCount(shape.hidden);
  Part part{{0, shape.batch}, {0, panels}, {0, shape.hidden}};
  if (split == LstmSplit::kSamples) {
    part.samples = ShareOf(shape.batch);
  } else {
    part.panels = ShareOf(panels);
    part.units = {std::min(shape.hidden, part.panels.first * kPanelWidth),
                  std::min(shape.hidden, part.panels.last * kPanelWidth)};
  }
  return part;
}

void WaitForAll() {
#pragma omp barrier
}

// One sample of one time step, forward. z holds the four gates, activated in place. `before` is the
// cell state of the step before, null at the first step.
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void Activate(
    float* z, const float* before, float* cell, float* y, int64_t hidden, Range units) {
#pragma GCC ivdep
  for (int64_t u = units.first; u < units.last; ++u) {
    const float i = Logistic(z[u]), f = Logistic(z[hidden + u]);
    const float g = HyperbolicTangent(z[2 * hidden + u]), o = Logistic(z[3 * hidden + u]);
    const float c = i * g + (before == nullptr ? 0.0f : f * before[u]);
    z[u] = i;
    z[hidden + u] = f;
    z[2 * hidden + u] = g;
    z[3 * hidden + u] = o;
    cell[u] = c;
    y[u] = o * HyperbolicTangent(c);
  }
}

// One sample of one time step, backward. dh and dc are the gradients from the next step; dc is
// replaced by the gradient for the step before.
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void Derive(
    float* z, const float* before, const float* cell, const float* dy, const float* dh, float* dc,
    int64_t hidden, Range units) {
#pragma GCC ivdep
  for (int64_t u = units.first; u < units.last; ++u) {
    const float i = z[u], f = z[hidden + u], g = z[2 * hidden + u], o = z[3 * hidden + u];
    const float squashed = HyperbolicTangent(cell[u]), d = dy[u] + dh[u];
    const float dcell = dc[u] + d * o * (1.0f - squashed * squashed);
    z[u] = dcell * g * i * (1.0f - i);
    z[hidden + u] = before == nullptr ? 0.0f : dcell * before[u] * f * (1.0f - f);
    z[2 * hidden + u] = dcell * i * (1.0f - g * g);
    z[3 * hidden + u] = d * squashed * o * (1.0f - o);
    dc[u] = dcell * f;
  }
}

// Initialises the gates of some rows with the bias.
void StartWithBias(float* gates, const float* bias, int64_t width, Range rows) {
  for (int64_t row = rows.first; row < rows.last; ++row)
    std::copy_n(bias, width, gates + row * width);
}

// Packs, gate by gate, the transposed weights (depth × hidden).
void PackGates(const float* weights, int64_t depth, int64_t hidden, float* panels) {
  const int64_t per_gate = PanelCount(hidden);
  const Range share = ShareOf(kGates * per_gate);
  for (int64_t at = share.first; at < share.last; ++at) {
    const int64_t gate = at / per_gate, panel = at % per_gate;
    PackPanels(weights + gate * hidden * depth, 1, depth, depth, hidden, panel, panel + 1,
               panels + gate * PanelFloats(depth, hidden));
  }
}

void MultiplyGates(const LstmShape& shape, Matrix a, const float* panels, int64_t depth,
                   float* gates, int64_t rows, Range wanted) {
  for (int64_t gate = 0; gate < kGates; ++gate) {
    Multiply({a, panels + gate * PanelFloats(depth, shape.hidden), depth, shape.hidden,
              gates + gate * shape.hidden, kGates * shape.hidden, true},
             rows, wanted.first, wanted.last);
  }
}

void ForwardThread(const LstmShape& shape, LstmSplit split, const LstmForward& f) {
  const int64_t hidden = shape.hidden, width = kGates * hidden, all_panels = PanelCount(hidden);
  float* hidden_panels = f.panels + kGates * PanelFloats(shape.features, hidden);
  PackGates(f.weights_input, shape.features, hidden, f.panels);
  PackGates(f.weights_hidden, hidden, hidden, hidden_panels);
  WaitForAll();
  const Range rows = ShareOf(shape.time * shape.batch);
  StartWithBias(f.gates, f.bias, width, rows);
  MultiplyGates(shape, {f.x + rows.first * shape.features, shape.features, 1}, f.panels,
                shape.features, f.gates + rows.first * width, rows.size(), {0, all_panels});
  WaitForAll();
  const Part part = PartOf(shape, split);
  for (int64_t t = 0; t < shape.time; ++t) {
    const int64_t row = t * shape.batch + part.samples.first;
    if (t > 0) {
      MultiplyGates(shape, {f.y + (row - shape.batch) * hidden, hidden, 1}, hidden_panels, hidden,
                    f.gates + row * width, part.samples.size(), part.panels);
    }
    for (int64_t at = row; at < row + part.samples.size(); ++at) {
      Activate(f.gates + at * width, t == 0 ? nullptr : f.cells + (at - shape.batch) * hidden,
               f.cells + at * hidden, f.y + at * hidden, hidden, part.units);
    }
    if (split == LstmSplit::kUnits) WaitForAll();
  }
}

void PackShare(const float* weights, int64_t depth, int64_t columns, float* panels) {
  const Range share = ShareOf(PanelCount(columns));
  PackPanels(weights, columns, 1, depth, columns, share.first, share.last, panels);
}

void BackwardThread(const LstmShape& shape, LstmSplit split, const LstmBackward& b) {
  const int64_t hidden = shape.hidden, width = kGates * hidden;
  float* input_panels = b.panels + PanelFloats(width, hidden);
  float *dh = b.state, *dc = b.state + shape.batch * hidden;
  PackShare(b.weights_hidden, width, hidden, b.panels);
  if (b.dx != nullptr) PackShare(b.weights_input, width, shape.features, input_panels);
  const Range cleared = ShareOf(2 * shape.batch * hidden);
  std::fill(b.state + cleared.first, b.state + cleared.last, 0.0f);
  WaitForAll();
  const Part part = PartOf(shape, split);
  for (int64_t t = shape.time - 1; t >= 0; --t) {
    const int64_t row = t * shape.batch;
    for (int64_t n = part.samples.first; n < part.samples.last; ++n) {
      const int64_t at = row + n;
      Derive(b.gates + at * width, t == 0 ? nullptr : b.cells + (at - shape.batch) * hidden,
             b.cells + at * hidden, b.dy + at * hidden, dh + n * hidden, dc + n * hidden, hidden,
             part.units);
    }
    if (split == LstmSplit::kUnits) WaitForAll();
    if (t == 0) break;
    Multiply({{b.gates + (row + part.samples.first) * width, width, 1},
              b.panels,
              width,
              hidden,
              dh + part.samples.first * hidden,
              hidden,
              false},
             part.samples.size(), part.panels.first, part.panels.last);
  }
  if (b.dx == nullptr) return;
  WaitForAll();
  const Range rows = ShareOf(shape.time * shape.batch);
  Multiply({{b.gates + rows.first * width, width, 1},
            input_panels,
            width,
            shape.features,
            b.dx + rows.first * shape.features,
            shape.features,
            false},
           rows.size(), 0, PanelCount(shape.features));
}

}  // namespace

LstmSplit ChooseLstmSplit(const LstmShape& shape, int64_t threads) {
  constexpr int64_t kSmallCacheBytes = 256 * 1024;  // if the system does not report one
  const int64_t reported = sysconf(_SC_LEVEL2_CACHE_SIZE),
                cache_bytes = reported > 0 ? reported : kSmallCacheBytes;
  const int64_t matrix_bytes =
      kGates * shape.hidden * shape.hidden * static_cast<int64_t>(sizeof(float));
  return shape.batch >= kSamplesPerThread * threads && matrix_bytes <= cache_bytes * 3 / 4
             ? LstmSplit::kSamples
             : LstmSplit::kUnits;
}

void RunLstm(const LstmShape& shape, LstmSplit split, const LstmForward& f) {
#pragma omp parallel
  ForwardThread(shape, split, f);
}

void RunLstmBackward(const LstmShape& shape, LstmSplit split, const LstmBackward& b) {
#pragma omp parallel
  BackwardThread(shape, split, b);
}

int64_t LstmPanelFloats(const LstmShape& shape) {
  const int64_t width = kGates * shape.hidden;
  const int64_t forward = kGates * (PanelFloats(shape.features, shape.hidden) +
                                    PanelFloats(shape.hidden, shape.hidden));
  return std::max(forward, PanelFloats(width, shape.hidden) + PanelFloats(width, shape.features));
}

}  // namespace tench::native
