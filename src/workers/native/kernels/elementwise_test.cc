// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/elementwise.h"

#include <functional>
#include <limits>

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::elementwise_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kCounts[] = {1, 13, 50021};

struct Sources {
  explicit Sources(int64_t count) {
    for (uint32_t k = 0; k < 3; ++k) values.push_back(RandomArray(count, k + 1));
    for (std::vector<float>& source : values) pointers.push_back(source.data());
  }
  std::vector<std::vector<float>> values;
  std::vector<float*> pointers;
};

// Compares run(y) with expected(i) for every element, for 1 to 3 threads.
void Check(int64_t count, const std::function<void(float*)>& run,
           const std::function<double(int64_t)>& expected, double tolerance) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = expected(i);
  for (const int threads : kThreadCounts) {
    const ThreadCount team(threads);
    GuardedArray y(count);
    run(y.data());
    ExpectNear(y.span(), values, tolerance);
    EXPECT_TRUE(y.IsIntact());
  }
}

TEST(ElementwiseTest, WeightedSum) {
  const float coefficients[] = {2, -3, 0.5f};
  for (const int64_t count : kCounts) {
    Sources s(count);
    Check(
        count, [&](float* y) { WeightedSum(y, s.pointers, coefficients, count); },
        [&](int64_t i) {
          return 2.0 * s.values[0][i] - 3.0 * s.values[1][i] + 0.5 * s.values[2][i];
        },
        1e-5);
  }
}

TEST(ElementwiseTest, WeightedSumInPlaceOfTheFirstSource) {
  const float coefficients[] = {2, -3, 0.5f};
  Sources s(100);
  std::vector<double> expected(100);
  for (size_t i = 0; i < 100; ++i)
    expected[i] = 2.0 * s.values[0][i] - 3.0 * s.values[1][i] + 0.5 * s.values[2][i];
  WeightedSum(s.pointers[0], s.pointers, coefficients, 100);
  ExpectNear(s.values[0], expected, 1e-5);
}

TEST(ElementwiseTest, Scale) {
  for (const int64_t count : kCounts) {
    const std::vector<float> x = RandomArray(count, 1);
    Check(
        count, [&](float* y) { Scale(y, x.data(), -2.5f, count); },
        [&](int64_t i) { return -2.5 * x[i]; }, 1e-6);
  }
}

TEST(ElementwiseTest, ProductLeavesOneSourceOut) {
  for (const int64_t count : kCounts) {
    Sources s(count);
    for (size_t left_out = 0; left_out < 4; ++left_out) {
      Check(
          count, [&](float* y) { Product(y, s.pointers, left_out, count); },
          [&](int64_t i) {
            double product = 1;
            for (size_t k = 0; k < 3; ++k) product *= k == left_out ? 1.0 : double{s.values[k][i]};
            return product;
          },
          1e-6);
    }
  }
}

TEST(ElementwiseTest, EmptyProductIsOne) {
  const std::vector<float> only = RandomArray(21, 1);
  std::vector<float*> sources = {const_cast<float*>(only.data())};
  Check(
      21, [&](float* y) { Product(y, sources, 0, 21); }, [](int64_t) { return 1.0; }, 0);
}

TEST(ElementwiseTest, MultiplyInPlace) {
  for (const int64_t count : kCounts) {
    const std::vector<float> a = RandomArray(count, 1), b = RandomArray(count, 2);
    Check(
        count,
        [&](float* y) {
          std::copy(a.begin(), a.end(), y);
          MultiplyInPlace(y, b.data(), count);
        },
        [&](int64_t i) { return double{a[i]} * b[i]; }, 1e-6);
  }
}

TEST(ElementwiseTest, MaxPropagatesNan) {
  for (const int64_t count : kCounts) {
    Sources s(count);
    s.values[0][0] = s.values[1][count / 2] = s.values[2][count - 1] = kNan;
    Check(
        count, [&](float* y) { Max(y, s.pointers, count); },
        [&](int64_t i) {
          double best = s.values[0][i];
          for (size_t k = 1; k < 3; ++k) {
            const double value = s.values[k][i];
            if (!(value <= best) && !std::isnan(best)) best = value;
          }
          return best;
        },
        0);
  }
}

TEST(ElementwiseTest, MaxBackwardGivesTheGradientToTheFirstMaximum) {
  const int64_t count = 50021;
  Sources s(count);
  for (int64_t i = 0; i < count; i += 2) s.values[2][i] = s.values[1][i];
  for (int64_t i = 0; i < count; i += 3) s.values[1][i] = s.values[0][i];
  s.values[1][5] = kNan;
  const std::vector<float> dy = RandomArray(count, 9);
  for (size_t which = 0; which < 3; ++which) {
    Check(
        count, [&](float* dx) { MaxBackward(dx, dy.data(), s.pointers, which, count); },
        [&](int64_t i) {
          size_t best = i == 5 ? 1 : 0;
          for (size_t k = 1; k < 3 && i != 5; ++k)
            if (s.values[k][i] > s.values[best][i]) best = k;
          return best == which ? double{dy[i]} : 0.0;
        },
        0);
  }
}

TEST(ElementwiseTest, PowerAndItsDerivative) {
  const int64_t count = 50021;
  const std::vector<float> x = RandomArray(count, 1), dy = RandomArray(count, 2);
  for (const PowerParameters& op : {PowerParameters{1, 2, 3}, PowerParameters{2, -0.5, 2},
                                    PowerParameters{2.5, 0.5, 2}, PowerParameters{-1, 0.25, 2}}) {
    Check(
        count, [&](float* y) { PowerForward(y, x.data(), op, count); },
        [&](int64_t i) { return std::pow(op.shift + op.scale * x[i], op.power); }, 2e-5);
    Check(
        count, [&](float* dx) { PowerBackward(dx, dy.data(), x.data(), op, count); },
        [&](int64_t i) {
          return dy[i] * op.power * op.scale * std::pow(op.shift + op.scale * x[i], op.power - 1);
        },
        2e-5);
  }
}

TEST(ElementwiseTest, PowerWithoutSlopeHasNoGradient) {
  const std::vector<float> zeros(9), dy = RandomArray(9, 2);
  Check(
      9,
      [&](float* dx) {
        PowerBackward(dx, dy.data(), zeros.data(), {0, 1, 0}, 9);
      },
      [](int64_t) { return 0.0; }, 0);
}

}  // namespace
}  // namespace tench::native::elementwise_test
