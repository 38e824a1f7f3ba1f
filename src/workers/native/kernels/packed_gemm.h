// SPDX-License-Identifier: Apache-2.0
#pragma once
// Single-precision GEMM with a packed right operand, C = A·B or C += A·B, for products that are too
// small or repeated too often for a library's GEMM. B (depth × columns) is packed into panels of
// kPanelWidth columns, each (depth, kPanelWidth). A and C may have any strides. Nothing is
// allocated.
//
// Thread safety: calls run on the calling thread alone. Callers split the work over threads by
// rows or by panels.

#include <cstdint>

#include "workers/native/kernels/cpu_features.h"

namespace tench::native {

constexpr int64_t kPanelWidth = 16;

// Whether AVX2 is this CPU's widest instruction set. Callers that replace a library's GEMM by this
// one were measured to be faster on such CPUs only.
bool WidestVectorsAreAvx2();

// Element (row, k) = data[row · row_stride + k · k_stride].
struct Matrix {
  const float* data = nullptr;
  int64_t row_stride = 0, k_stride = 1;
};

int64_t PanelCount(int64_t columns);
// Floats of a packed (depth × columns) matrix.
int64_t PanelFloats(int64_t depth, int64_t columns);

// Packs panels [first, last) of B, whose element (k, column) is from[k · k_stride + column ·
// column_stride]. Columns of the last panel beyond B are zero. `panels` is panel 0.
void PackPanels(const float* from, int64_t k_stride, int64_t column_stride, int64_t depth,
                int64_t columns, int64_t first, int64_t last, float* panels);

struct PanelProduct {
  Matrix a;  // (rows × depth)
  const float* panels = nullptr;
  int64_t depth = 0, columns = 0;
  float* c = nullptr;  // element (0, 0) of C, whichever panels are multiplied
  int64_t c_stride = 0;
  bool accumulate = false;  // C += A·B
};
// The columns of C that belong to panels [first_panel, last_panel). The CPU must have `isa`.
void Multiply(const PanelProduct& product, int64_t rows, int64_t first_panel, int64_t last_panel,
              Isa isa);
// With the widest instruction set of this CPU.
void Multiply(const PanelProduct& product, int64_t rows, int64_t first_panel, int64_t last_panel);

}  // namespace tench::native
