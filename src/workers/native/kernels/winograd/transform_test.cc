// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/winograd/transform.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::winograd::transform_test {
namespace {

using Vec = VectorOf<4>::Type;  // one register of every x86-64 CPU

// The matrix of a one-dimensional transform, [to][from], by its action on unit vectors.
template <class Line>
std::vector<std::vector<double>> MatrixOf() {
  std::vector<std::vector<double>> matrix(Line::kTo, std::vector<double>(Line::kFrom));
  for (int64_t column = 0; column < Line::kFrom; ++column) {
    Vec from[Line::kFrom] = {}, to[Line::kTo] = {};
    from[column] += 1.0f;
    Line::Apply(from, to);
    for (int64_t row = 0; row < Line::kTo; ++row) matrix[row][column] = to[row][0];
  }
  return matrix;
}

template <class Line, class Transposed>
void ExpectTransposes() {
  const auto matrix = MatrixOf<Line>(), transposed = MatrixOf<Transposed>();
  ASSERT_EQ(matrix.size(), transposed[0].size());
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t j = 0; j < matrix[i].size(); ++j)
      EXPECT_NEAR(matrix[i][j], transposed[j][i], 1e-6) << i << " " << j;
  }
}

// Y = Aᵀ [(G g) ⊙ (Bᵀ d)] is the correlation of d and g.
template <int kOut, int kTaps>
void ExpectCorrelation() {
  const auto bt = MatrixOf<InputTransform>(), at = MatrixOf<OutputTransform<kOut>>(),
             g = MatrixOf<WeightTransform<kTaps>>();
  const std::vector<float> d = RandomArray(kAlpha, 1), w = RandomArray(kTaps, 2);
  for (int y = 0; y < kOut; ++y) {
    double found = 0, expected = 0;
    for (int64_t point = 0; point < kAlpha; ++point) {
      double u = 0, v = 0;
      for (int k = 0; k < kTaps; ++k) u += g[point][k] * w[k];
      for (int64_t k = 0; k < kAlpha; ++k) v += bt[point][k] * d[k];
      found += at[y][point] * u * v;
    }
    for (int k = 0; k < kTaps; ++k) expected += double{d[y + k]} * w[k];
    EXPECT_NEAR(found, expected, 1e-5) << y;
  }
}

TEST(WinogradTransformTest, ComputesACorrelation) {
  ExpectCorrelation<4, 3>();
  ExpectCorrelation<2, 5>();
}

TEST(WinogradTransformTest, BackwardTransformsAreTransposes) {
  ExpectTransposes<InputTransform, InputTransformTransposed>();
  ExpectTransposes<OutputTransform<4>, OutputTransformTransposed<4>>();
  ExpectTransposes<OutputTransform<2>, OutputTransformTransposed<2>>();
  ExpectTransposes<WeightTransform<3>, WeightTransformTransposed<3>>();
  ExpectTransposes<WeightTransform<5>, WeightTransformTransposed<5>>();
}

TEST(WinogradTransformTest, PointsAreZeroPlusMinusAPlusMinusTwoAAndInfinity) {
  const auto a = MatrixOf<Evaluate<3>>();
  const double points[] = {0, 0.75, -0.75, 1.5, -1.5};
  for (size_t i = 0; i < 5; ++i) {
    for (size_t power = 0; power < 3; ++power)
      EXPECT_EQ(a[i][power], std::pow(points[i], static_cast<double>(power)));
  }
  EXPECT_EQ(a[5], (std::vector<double>{0, 0, 1}));
}

TEST(WinogradTransformTest, TwoDimensionsTransformColumnsAndRows) {
  using Line = WeightTransform<3>;
  const auto matrix = MatrixOf<Line>();
  const std::vector<float> values = RandomArray(3 * 3 * 4, 1);
  Vec from[3][3], to[kAlpha][kAlpha];
  for (int64_t i = 0; i < 9; ++i) Load(values.data() + i * 4, from[i / 3][i % 3]);
  Transform2d<Line>(from, to);
  for (int64_t r = 0; r < kAlpha; ++r) {
    for (int64_t c = 0; c < kAlpha; ++c) {
      float found[4];
      Store(to[r][c], found);
      for (int64_t lane = 0; lane < 4; ++lane) {
        double expected = 0;
        for (int64_t i = 0; i < 9; ++i)
          expected += matrix[r][i / 3] * matrix[c][i % 3] * values[i * 4 + lane];
        EXPECT_NEAR(found[lane], expected, 1e-5);
      }
    }
  }
}

template <int64_t kLanes>
void ExpectTransposed() {
  typename VectorOf<kLanes>::Type rows[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    for (int64_t j = 0; j < kLanes; ++j) rows[i][j] = static_cast<float>(i * kLanes + j);
  }
  Transpose(rows);
  for (int64_t i = 0; i < kLanes; ++i) {
    for (int64_t j = 0; j < kLanes; ++j)
      EXPECT_EQ(rows[i][j], static_cast<float>(j * kLanes + i)) << i << " " << j;
  }
}

TEST(WinogradTransformTest, TransposesBlocks) {
  ExpectTransposed<8>();
  ExpectTransposed<16>();
}

}  // namespace
}  // namespace tench::native::winograd::transform_test
