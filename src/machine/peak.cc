// SPDX-License-Identifier: Apache-2.0
#include "machine/peak.h"

#include <algorithm>
#include <vector>

#include "machine/run_together.h"

namespace tench {
namespace {

// Each thread multiplies a panel of A (kRowPanels tiles high) by a panel of B (kColumnPanels tiles
// wide), as in the inner loops of an SGEMM (Goto and van de Geijn 2008). Both panels are packed in
// the order in which the tile kernel reads them. Both fit into a second-level cache.
constexpr int64_t kDepth = 256;
constexpr int64_t kRowPanels = 12;
constexpr int64_t kColumnPanels = 8;
constexpr int kWindows = 6;
constexpr int64_t kWindowNs = 40'000'000;
constexpr int64_t kArrayElements = 16 << 20;  // 64 MiB each: exceeds most caches

// A register-blocked accumulator tile of kRows x 2 vectors. Each step of the depth reads kRows
// scalars of `a` and two vectors of `b`.
template <class Vector, int kRows>
[[gnu::always_inline]] inline void Tile(const float* a, const float* b, float* c, int64_t depth) {
  constexpr int64_t kLanes = sizeof(Vector) / sizeof(float);
  Vector sum[kRows][2] = {};
  for (int64_t k = 0; k < depth; ++k, a += kRows, b += 2 * kLanes) {
    Vector left, right;
    __builtin_memcpy(&left, b, sizeof left);
    __builtin_memcpy(&right, b + kLanes, sizeof right);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      sum[r][0] += left * a[r];
      sum[r][1] += right * a[r];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int half = 0; half < 2; ++half) {
      for (int64_t i = 0; i < kLanes; ++i) c[(r * 2 + half) * kLanes + i] += sum[r][half][i];
    }
  }
}

using V4 [[gnu::vector_size(16)]] = float;
using V8 [[gnu::vector_size(32)]] = float;
using V16 [[gnu::vector_size(64)]] = float;
using TileKernel = void (*)(const float* a, const float* b, float* c, int64_t depth);

void NarrowTile(const float* a, const float* b, float* c, int64_t depth) {
  Tile<V4, 4>(a, b, c, depth);
}
#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void WideTile(const float* a, const float* b, float* c, int64_t depth) {
  Tile<V8, 6>(a, b, c, depth);
}
[[gnu::target("avx512f")]] void WidestTile(const float* a, const float* b, float* c,
                                           int64_t depth) {
  Tile<V16, 14>(a, b, c, depth);
}
#endif

struct Choice {
  TileKernel kernel;
  PeakTile tile;
};

Choice Choose() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return {WidestTile, {14, 32}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {WideTile, {6, 16}};
#endif
  return {NarrowTile, {4, 8}};
}

struct Panels {
  std::vector<float> a, b, c;
};

double MeasureFlops(int64_t threads) {
  const Choice choice = Choose();
  std::vector<Panels> panels(static_cast<size_t>(threads));
  for (Panels& own : panels) {
    own.a.assign(static_cast<size_t>(kRowPanels * choice.tile.rows * kDepth), 0.5f);
    own.b.assign(static_cast<size_t>(kColumnPanels * choice.tile.columns * kDepth), 0.25f);
    own.c.assign(static_cast<size_t>(choice.tile.rows * choice.tile.columns), 0);
  }
  const auto multiply = [&](Panels& own) {
    for (int64_t column = 0; column < kColumnPanels; ++column) {
      for (int64_t row = 0; row < kRowPanels; ++row) {
        choice.kernel(own.a.data() + row * choice.tile.rows * kDepth,
                      own.b.data() + column * choice.tile.columns * kDepth, own.c.data(), kDepth);
      }
    }
  };
  const double flops = 2.0 * static_cast<double>(kRowPanels * kColumnPanels * choice.tile.rows *
                                                 choice.tile.columns * kDepth);
  int64_t repeats = 1;
  double best = 0;
  for (int window = 0; window < kWindows; ++window) {
    const int64_t time_ns = RunTogetherNs(threads, [&](int64_t thread) {
      for (int64_t i = 0; i < repeats; ++i) multiply(panels[static_cast<size_t>(thread)]);
    });
    // The first window only calibrates `repeats`.
    if (window > 0)
      best = std::max(best, flops * static_cast<double>(repeats * threads) /
                                static_cast<double>(time_ns) * 1e9);
    if (time_ns < kWindowNs / 2)
      repeats = std::max<int64_t>(repeats + 1, repeats * kWindowNs / time_ns);
  }
  return best;
}

[[gnu::noinline]] void AddScaled(float* y, const float* x, float a, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] += a * x[i];
}

double MeasureBytes(int64_t threads) {
  std::vector<float> x(kArrayElements, 1), y(kArrayElements, 0);
  double best = 0;
  for (int window = 0; window < kWindows; ++window) {
    const int64_t time_ns = RunTogetherNs(threads, [&](int64_t thread) {
      const int64_t first = kArrayElements * thread / threads,
                    last = kArrayElements * (thread + 1) / threads;
      AddScaled(y.data() + first, x.data() + first, 0.5f, last - first);
    });
    best =
        std::max(best, 3.0 * sizeof(float) * kArrayElements / static_cast<double>(time_ns) * 1e9);
  }
  return best;
}

}  // namespace

Peak MeasurePeak(int64_t threads) {
  threads = std::max<int64_t>(1, threads);
  return {threads, MeasureFlops(threads), MeasureBytes(threads)};
}

double MeasurePeakFlops(int64_t threads) { return MeasureFlops(std::max<int64_t>(1, threads)); }

PeakTile TileOfThisCpu() { return Choose().tile; }

void MultiplyTile(const float* a_columns, const float* b_rows, float* c, int64_t depth) {
  Choose().kernel(a_columns, b_rows, c, depth);
}

}  // namespace tench
