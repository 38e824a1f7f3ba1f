// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/packed_gemm.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::packed_gemm_test {
namespace {

class PackedGemmTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() == Isa::kAvx2 && !HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
    if (GetParam() == Isa::kAvx512 && !HasAvx512()) GTEST_SKIP() << "this CPU has no AVX-512";
  }
};

struct Size {
  int64_t rows, depth, columns;
};
// Every number of rows of a tile, edges of panels, and more than one block of depth and rows.
std::vector<Size> Sizes() {
  std::vector<Size> sizes = {{1, 1, 1}, {13, 300, 16}, {200, 7, 50}, {97, 513, 33}};
  for (int64_t rows = 1; rows <= 15; ++rows) sizes.push_back({rows, 9, 16 + rows});
  return sizes;
}

TEST_P(PackedGemmTest, MultipliesOrAccumulates) {
  for (const Size& size : Sizes()) {
    const std::vector<float> a = RandomArray(size.rows * size.depth, 1),
                             b = RandomArray(size.depth * size.columns, 2);
    const int64_t c_stride = size.columns + 3;
    std::vector<float> panels(PanelFloats(size.depth, size.columns));
    PackPanels(b.data(), size.columns, 1, size.depth, size.columns, 0, PanelCount(size.columns),
               panels.data());
    for (const bool accumulate : {false, true}) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(testing::Message() << size.rows << "x" << size.depth << "x" << size.columns);
        const std::vector<float> before = RandomArray(size.rows * c_stride, 3);
        std::vector<double> expected(before.begin(), before.end());
        for (int64_t r = 0; r < size.rows; ++r) {
          for (int64_t j = 0; j < size.columns; ++j) {
            double sum = accumulate ? double{before[r * c_stride + j]} : 0.0;
            for (int64_t k = 0; k < size.depth; ++k) {
              sum += double{a[transposed ? k * size.rows + r : r * size.depth + k]} *
                     b[k * size.columns + j];
            }
            expected[r * c_stride + j] = sum;
          }
        }
        const Matrix left =
            transposed ? Matrix{a.data(), 1, size.rows} : Matrix{a.data(), size.depth, 1};
        GuardedArray c(before);
        Multiply({left, panels.data(), size.depth, size.columns, c.data(), c_stride, accumulate},
                 size.rows, 0, PanelCount(size.columns), GetParam());
        ExpectNear(c.span(), expected, 1e-4);
        EXPECT_TRUE(c.IsIntact());
      }
    }
  }
}

TEST_P(PackedGemmTest, WritesTheColumnsOfItsPanelsOnly) {
  const std::vector<float> a(4, 1.0f);
  const std::vector<float> b = RandomArray(40, 2);
  std::vector<float> panels(PanelFloats(1, 40));
  PackPanels(b.data(), 40, 1, 1, 40, 0, 3, panels.data());
  GuardedArray c(std::vector<float>(4 * 40, 7.0f));
  Multiply({{a.data(), 1, 1}, panels.data(), 1, 40, c.data(), 40, false}, 4, 1, 2, GetParam());
  std::vector<double> expected(4 * 40, 7.0);
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t j = 16; j < 32; ++j) expected[r * 40 + j] = b[j];
  }
  ExpectNear(c.span(), expected, 0);
}

INSTANTIATE_TEST_SUITE_P(Isas, PackedGemmTest,
                         testing::Values(Isa::kPortable, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& param) {
                           return param.param == Isa::kPortable ? "portable"
                                  : param.param == Isa::kAvx2   ? "avx2"
                                                                : "avx512";
                         });

TEST(PackedGemmDispatchTest, UsesTheWidestInstructionSetByDefault) {
  const std::vector<float> a = RandomArray(13 * 31, 1), b = RandomArray(31 * 20, 2);
  std::vector<float> panels(PanelFloats(31, 20)), found(13 * 20), expected(13 * 20);
  PackPanels(b.data(), 20, 1, 31, 20, 0, 2, panels.data());
  Multiply({{a.data(), 31, 1}, panels.data(), 31, 20, found.data(), 20, false}, 13, 0, 2);
  Multiply({{a.data(), 31, 1}, panels.data(), 31, 20, expected.data(), 20, false}, 13, 0, 2,
           WidestIsa());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(WidestVectorsAreAvx2(), HasAvx2() && !HasAvx512());
}

TEST(PanelTest, CountsPanelsAndFloats) {
  EXPECT_EQ(PanelCount(1), 1);
  EXPECT_EQ(PanelCount(16), 1);
  EXPECT_EQ(PanelCount(17), 2);
  EXPECT_EQ(PanelFloats(5, 17), 2 * 16 * 5);
}

TEST(PanelTest, PacksEitherOrderAndPadsWithZeros) {
  constexpr int64_t kDepth = 5, kColumns = 37;
  const std::vector<float> b = RandomArray(kDepth * kColumns, 1);
  std::vector<float> transposed(b.size());
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t j = 0; j < kColumns; ++j) transposed[j * kDepth + k] = b[k * kColumns + j];
  }
  std::vector<double> expected(PanelFloats(kDepth, kColumns));
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t j = 0; j < kColumns; ++j)
      expected[(j / 16 * kDepth + k) * 16 + j % 16] = b[k * kColumns + j];
  }
  GuardedArray by_rows(PanelFloats(kDepth, kColumns)), by_columns(PanelFloats(kDepth, kColumns));
  PackPanels(b.data(), kColumns, 1, kDepth, kColumns, 0, 2, by_rows.data());
  PackPanels(b.data(), kColumns, 1, kDepth, kColumns, 2, 3, by_rows.data());
  PackPanels(transposed.data(), 1, kDepth, kDepth, kColumns, 0, 3, by_columns.data());
  ExpectNear(by_rows.span(), expected, 0);
  ExpectNear(by_columns.span(), expected, 0);
  EXPECT_TRUE(by_rows.IsIntact() && by_columns.IsIntact());
}

}  // namespace
}  // namespace tench::native::packed_gemm_test
