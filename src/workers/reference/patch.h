// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the patches that a convolution's filters meet, without ever building the whole matrix of
// them. The grid of positions is the output image and the source is the input (forward, weight
// gradient); or, transposed, the grid is the input image and the source is the output's gradient
// (data gradient), where a stride leaves holes that read as zero. Padding reads as zero too.

#include <cstdint>
#include <span>

#include "net/op.h"

namespace tench {

struct PatchGeometry {
  Hw source, grid;  // sizes of the two images
  Hw stride, pad, dilation;
  int64_t source_channels = 0;  // of the whole tensor, all groups
  bool transposed = false;
};

class PatchReader {
 public:
  PatchReader(const PatchGeometry& geometry, std::span<const float> source)
      : geometry_(geometry), source_(source.data()) {}

  // What tap (channel, y, x) of a filter meets at positions first, first + 1, … counted over
  // (image, row, column) of the grid.
  void Read(int64_t channel, int64_t tap_y, int64_t tap_x, int64_t first,
            std::span<double> out) const;

 private:
  void ReadRow(const float* row, int64_t tap_x, int64_t first_column, std::span<double> out) const;

  PatchGeometry geometry_;
  const float* source_;
};

}  // namespace tench
