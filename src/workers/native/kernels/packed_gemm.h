// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix products with one operand packed beforehand into panels of kPanelWidth columns, for
// products too small or too often repeated for a library's GEMM to pay: nothing is allocated, no
// thread is woken. The caller splits the work over threads by rows or by panels.

#include <cstdint>

namespace tench::native {

constexpr int64_t kPanelWidth = 16;

// Whether this CPU's widest vectors are AVX2's, on which those who take this instead of a library's
// product were measured.
bool WidestVectorsAreAvx2();

// element (row, k) = data[row · row_stride + k · k_stride]
struct Matrix {
  const float* data = nullptr;
  int64_t row_stride = 0, k_stride = 1;
};

int64_t PanelCount(int64_t columns);
// Floats that the panels of a (depth × columns) matrix take.
int64_t PanelFloats(int64_t depth, int64_t columns);

// Packs panels [first, last) of B (depth × columns), whose element (k, column) is from[k · k_stride
// + column · column_stride], zeros beyond the last column.
void PackPanels(const float* from, int64_t k_stride, int64_t column_stride, int64_t depth,
                int64_t columns, int64_t first, int64_t last, float* panels);

// C (rows × columns) = A·B, added to what is there if `accumulate`, for panels [first, last) of B;
// `c` is the matrix's own first element.
struct PanelProduct {
  Matrix a;
  const float* panels = nullptr;
  int64_t depth = 0, columns = 0;
  float* c = nullptr;
  int64_t c_stride = 0;
  bool accumulate = false;
};
void Multiply(const PanelProduct& product, int64_t rows, int64_t first_panel, int64_t last_panel);

}  // namespace tench::native
