// SPDX-License-Identifier: Apache-2.0
#pragma once
// Implicit im2col: reads the patches of a convolution without building the whole matrix. For
// forward and the weight gradient the grid of positions is the output image and the source is the
// input. For the data gradient (transposed) the grid is the input image and the source is the
// output gradient, where a stride leaves holes. Holes and padding read as zero.

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

  // The source values under tap (channel, y, x) at positions first, first + 1, …, counted over
  // (image, row, column) of the grid.
  void Read(int64_t channel, int64_t tap_y, int64_t tap_x, int64_t first,
            std::span<double> out) const;

 private:
  void ReadRow(const float* row, int64_t tap_x, int64_t first_column, std::span<double> out) const;

  PatchGeometry geometry_;
  const float* source_;
};

}  // namespace tench
