// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix product with implicit operands: out(row, column) = Σ_k rows(row, k) · columns(k, column),
// in double, each sum in the order k = 0, 1, 2, … for every number of threads. Operands are packed
// per tile, so that a convolution can supply patches of an image. Work is divided by tiles of the
// result.

#include <algorithm>
#include <cstdint>
#include <span>

#include "workers/reference/thread_pool.h"

namespace tench {

inline constexpr int64_t kTileRows = 128, kTileColumns = 64, kTileDepth = 256;
inline constexpr int64_t kRowPanel = 4, kColumnPanel = 8;
inline constexpr size_t kProductScratch =
    kTileRows * kTileColumns + (kTileRows + kTileColumns) * kTileDepth;

struct ProductSize {
  int64_t rows = 0, columns = 0, depth = 0;
};

// A packed block of lines × depth, interleaved by kWidth lines so that the innermost loop reads
// contiguous memory.
template <int64_t kWidth>
class Panels {
 public:
  explicit Panels(double* data) : data_(data) {}

  double& at(int64_t line, int64_t k) {
    return data_[line / kWidth * (kWidth * kTileDepth) + k * kWidth + line % kWidth];
  }
  const double* panel(int64_t line) const { return data_ + line * kTileDepth; }

  // values[i] goes to line `line + i` (SetAlong: to depth k + i).
  void SetAcross(int64_t line, int64_t k, std::span<const double> values) {
    for (size_t i = 0; i < values.size(); ++i) at(line + static_cast<int64_t>(i), k) = values[i];
  }
  void SetAlong(int64_t line, int64_t k, std::span<const double> values) {
    for (size_t i = 0; i < values.size(); ++i) at(line, k + static_cast<int64_t>(i)) = values[i];
  }

 private:
  double* data_;
};

// The part of an operand that a tile needs: lines first_line … and depths first_depth …, packed to
// (0, 0) … of the panels.
struct Block {
  int64_t first_line = 0, lines = 0, first_depth = 0, depth = 0;
};

// An operand in memory: element (line, k) is data[line · line_stride + k · depth_stride].
template <class Element>
struct MatrixOperand {
  const Element* data;
  int64_t line_stride, depth_stride;

  template <class PanelsT>
  void operator()(const Block& block, PanelsT& panels) const {
    const Element* origin =
        data + block.first_line * line_stride + block.first_depth * depth_stride;
    if (depth_stride == 1) {
      for (int64_t line = 0; line < block.lines; ++line) {
        for (int64_t k = 0; k < block.depth; ++k)
          panels.at(line, k) = origin[line * line_stride + k];
      }
    } else {
      for (int64_t k = 0; k < block.depth; ++k) {
        for (int64_t line = 0; line < block.lines; ++line)
          panels.at(line, k) = origin[line * line_stride + k * depth_stride];
      }
    }
  }
};

// tile(kRowPanel × kColumnPanel, rows kTileColumns apart) += rows · columns over `depth`.
void AccumulatePanel(int64_t depth, const double* rows, const double* columns, double* tile);

// The finished tile that `store` receives. `first_row` and `first_column` refer to the whole
// product.
struct Tile {
  int64_t first_row = 0, rows = 0, first_column = 0, columns = 0;
  const double* values = nullptr;

  // Relative to the tile's corner.
  double at(int64_t row, int64_t column) const { return values[row * kTileColumns + column]; }
};

// Stores tiles into a row-major matrix of `width` columns.
struct StoreMatrix {
  float* out;
  int64_t width;

  void operator()(const Tile& tile) const {
    for (int64_t r = 0; r < tile.rows; ++r) {
      float* row = out + (tile.first_row + r) * width + tile.first_column;
      for (int64_t c = 0; c < tile.columns; ++c) row[c] = static_cast<float>(tile.at(r, c));
    }
  }
};

template <class Rows, class Columns, class Store>
void MultiplyMatrices(ThreadPool& pool, const ProductSize& size, const Rows& rows,
                      const Columns& columns, const Store& store) {
  const int64_t row_tiles = (size.rows + kTileRows - 1) / kTileRows;
  const int64_t column_tiles = (size.columns + kTileColumns - 1) / kTileColumns;
  pool.ReserveScratch(kProductScratch);
  pool.Run(row_tiles * column_tiles, [&](int64_t piece, int64_t thread) {
    double* sums = pool.Scratch(thread, kProductScratch);
    Panels<kRowPanel> row_panels(sums + kTileRows * kTileColumns);
    Panels<kColumnPanel> column_panels(sums + kTileRows * kTileColumns + kTileRows * kTileDepth);
    Tile tile{piece % row_tiles * kTileRows, 0, piece / row_tiles * kTileColumns, 0, sums};
    tile.rows = std::min(kTileRows, size.rows - tile.first_row);
    tile.columns = std::min(kTileColumns, size.columns - tile.first_column);
    // Lines beyond an edge are computed and discarded. Zeros avoid slow denormals in them.
    const bool edge = tile.rows % kRowPanel != 0 || tile.columns % kColumnPanel != 0;
    std::fill_n(sums, edge ? kProductScratch : kTileRows * kTileColumns, 0.0);
    for (int64_t k = 0; k < size.depth; k += kTileDepth) {
      const int64_t depth = std::min(kTileDepth, size.depth - k);
      rows(Block{tile.first_row, tile.rows, k, depth}, row_panels);
      columns(Block{tile.first_column, tile.columns, k, depth}, column_panels);
      for (int64_t r = 0; r < tile.rows; r += kRowPanel) {
        for (int64_t c = 0; c < tile.columns; c += kColumnPanel) {
          AccumulatePanel(depth, row_panels.panel(r), column_panels.panel(c),
                          sums + r * kTileColumns + c);
        }
      }
    }
    store(tile);
  });
}

}  // namespace tench
