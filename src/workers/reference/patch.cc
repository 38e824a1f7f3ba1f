// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/patch.h"

#include <algorithm>

namespace tench {
namespace {

// The source coordinate of a tap at a grid coordinate, or -1 for padding and holes.
int64_t SourceAt(int64_t grid, int64_t tap, int64_t stride, int64_t pad, int64_t dilation,
                 int64_t limit, bool transposed) {
  if (!transposed) {
    const int64_t at = grid * stride - pad + tap * dilation;
    return at >= 0 && at < limit ? at : -1;
  }
  const int64_t scaled = grid + pad - tap * dilation;
  if (scaled < 0 || scaled % stride != 0) return -1;
  return scaled / stride < limit ? scaled / stride : -1;
}

}  // namespace

void PatchReader::Read(int64_t channel, int64_t tap_y, int64_t tap_x, int64_t first,
                       std::span<double> out) const {
  const PatchGeometry& g = geometry_;
  int64_t column = first % g.grid.w;
  int64_t row = first / g.grid.w % g.grid.h;
  int64_t image = first / (g.grid.w * g.grid.h);
  while (!out.empty()) {
    const auto run = out.first(std::min<size_t>(out.size(), g.grid.w - column));
    const int64_t y =
        SourceAt(row, tap_y, g.stride.h, g.pad.h, g.dilation.h, g.source.h, g.transposed);
    if (y < 0) {
      std::fill(run.begin(), run.end(), 0.0);
    } else {
      ReadRow(source_ + ((image * g.source_channels + channel) * g.source.h + y) * g.source.w,
              tap_x, column, run);
    }
    out = out.subspan(run.size());
    column = 0;
    if (++row == g.grid.h) {
      row = 0;
      ++image;
    }
  }
}

void PatchReader::ReadRow(const float* row, int64_t tap_x, int64_t first_column,
                          std::span<double> out) const {
  const PatchGeometry& g = geometry_;
  const int64_t count = static_cast<int64_t>(out.size());
  if (g.transposed && g.stride.w > 1) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t x =
          SourceAt(first_column + i, tap_x, g.stride.w, g.pad.w, g.dilation.w, g.source.w, true);
      out[i] = x < 0 ? 0.0 : row[x];
    }
    return;
  }
  const int64_t shift =
      g.transposed ? g.pad.w - tap_x * g.dilation.w : tap_x * g.dilation.w - g.pad.w;
  // A transposed read with stride 1 is the same traversal, mirrored.
  const int64_t origin = first_column * g.stride.w + shift;
  // The range of i with 0 <= origin + i · stride < width.
  const int64_t low =
      std::clamp<int64_t>(origin >= 0 ? 0 : (-origin + g.stride.w - 1) / g.stride.w, 0, count);
  const int64_t beyond = g.source.w - origin;
  const int64_t high =
      std::clamp<int64_t>(beyond <= 0 ? 0 : (beyond + g.stride.w - 1) / g.stride.w, low, count);
  std::fill(out.begin(), out.begin() + low, 0.0);
  if (g.stride.w == 1) {
    for (int64_t i = low; i < high; ++i) out[i] = row[origin + i];
  } else {
    for (int64_t i = low; i < high; ++i) out[i] = row[origin + i * g.stride.w];
  }
  std::fill(out.begin() + high, out.end(), 0.0);
}

}  // namespace tench
