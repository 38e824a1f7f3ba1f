// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/pointwise.h"

#include <numeric>

#include "net/fill.h"
#include "workers/native/kernels/test_arrays.h"

namespace tench::native::pointwise_test {
namespace {

constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kSigmoid,
                                       Activation::kTanh};

double Activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}
double Derivative(Activation activation, double y) {
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      return y > 0 ? 1 : 0;
    case Activation::kSigmoid:
      return y * (1 - y);
    case Activation::kTanh:
      return 1 - y * y;
  }
  return 1;
}

// Rows with gaps for the target and each source, of different strides.
struct Case {
  Rows rows;
  int64_t sources;
};
constexpr Case kCases[] = {{{1, 1, 1}, 1},
                           {{3, 7, 9}, 2},
                           {{5, 2049, 2060}, 3},
                           {{40, 100, 100}, 1},
                           {{1, 50021, 50021}, 4}};

class SumTest {
 public:
  explicit SumTest(const Case& c) : c_(c) {
    for (int64_t k = 0; k <= c.sources; ++k) {
      const Rows rows{c.rows.count, c.rows.length, c.rows.length + 2 * k};
      arrays_.push_back(RandomArray(rows.count * rows.stride, static_cast<uint32_t>(k + 1)));
      pointers_.push_back({arrays_.back().data(), rows});
    }
  }
  std::span<const RowPointer> sources() const {
    return std::span(pointers_).first(static_cast<size_t>(c_.sources));
  }
  const RowPointer& activated() const { return pointers_.back(); }

  // Compares the target with value(sum, activated) in rows, and with its old value in the gaps.
  template <class Run, class Value>
  void Check(const Run& run, const Value& value) const {
    const std::vector<float> before = RandomArray(c_.rows.count * c_.rows.stride, 99);
    std::vector<double> expected(before.begin(), before.end());
    for (int64_t r = 0; r < c_.rows.count; ++r) {
      for (int64_t i = 0; i < c_.rows.length; ++i) {
        double sum = 0;
        for (const RowPointer& source : sources()) sum += At(source, r, i);
        expected[r * c_.rows.stride + i] = value(sum, At(activated(), r, i));
      }
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray target(before);
      run(target.data());
      ExpectNear(target.span(), expected, 5e-6);
      EXPECT_TRUE(target.IsIntact());
    }
  }

 private:
  static double At(const RowPointer& pointer, int64_t row, int64_t i) {
    return pointer.data[row * pointer.rows.stride + i];
  }
  const Case c_;
  std::vector<std::vector<float>> arrays_;
  std::vector<RowPointer> pointers_;
};

TEST(PointwiseTest, SumGradientsAppliesTheDerivative) {
  for (const Case& c : kCases) {
    const SumTest test(c);
    for (const Activation activation : kActivations) {
      test.Check(
          [&](float* target) {
            SumGradients(target, c.rows, test.sources(), test.activated(), activation);
          },
          [&](double sum, double y) { return sum * Derivative(activation, y); });
    }
  }
}

TEST(PointwiseTest, SumActivateAppliesTheActivation) {
  for (const Case& c : kCases) {
    const SumTest test(c);
    for (const Activation activation : kActivations) {
      test.Check([&](float* target) { SumActivate(target, c.rows, test.sources(), activation); },
                 [&](double sum, double) { return Activated(activation, sum); });
    }
  }
}

TEST(PointwiseTest, SumsInPlace) {
  std::vector<float> x = RandomArray(100, 1), y = RandomArray(100, 2);
  std::vector<double> expected(100);
  for (size_t i = 0; i < 100; ++i) expected[i] = y[i] > 0 ? double{x[i]} : 0.0;
  const Rows rows{1, 100, 100};
  const RowPointer source{x.data(), rows};
  SumGradients(x.data(), rows, {&source, 1}, {y.data(), rows}, Activation::kRelu);
  ExpectNear(x, expected, 0);
}

TEST(PointwiseTest, AddBiasAddsEachChannelsBias) {
  for (const int64_t block : {1, 8, 13, 16}) {
    const int64_t n = 3, channels = 3 * block, inner = 401;
    const std::vector<float> y = RandomArray(n * channels * inner, 1),
                             bias = RandomArray(channels, 2);
    for (const Activation activation : kActivations) {
      std::vector<double> expected(y.size());
      for (size_t at = 0; at < y.size(); ++at) {
        const auto i = static_cast<int64_t>(at);
        const int64_t channel = i / (inner * block) % 3 * block + i % block;
        expected[at] = Activated(activation, double{y[at]} + bias[channel]);
      }
      for (const int threads : kThreadCounts) {
        const ThreadCount team(threads);
        GuardedArray found(y);
        AddBias(found.data(), bias.data(), n, channels, inner, block, activation);
        ExpectNear(found.span(), expected, 1e-6);
        EXPECT_TRUE(found.IsIntact());
      }
    }
  }
}

TEST(PointwiseTest, BatchNormAddNormalisesByGivenStatistics) {
  for (const int64_t block : {8, 16}) {
    const BlockedImages images{6, 3, 301, block};
    const int64_t count = images.planes * images.inner * block, channels = 3 * block;
    const std::vector<float> x = RandomArray(count, 1), other = RandomArray(count, 2),
                             mean = RandomArray(channels, 3),
                             variance = RandomArray(channels, 4, 0.1f, 1),
                             scale = RandomArray(channels, 5), shift = RandomArray(channels, 6);
    for (const bool scaled : {false, true}) {
      for (const bool relu : {false, true}) {
        std::vector<double> expected(count);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t c = i / (images.inner * block) % 3 * block + i % block;
          const double y = (double{x[i]} - mean[c]) * (scaled ? double{scale[c]} : 1.0) /
                               std::sqrt(double{variance[c]} + 0.01) +
                           (scaled ? double{shift[c]} : 0.0) + other[i];
          expected[i] = relu ? std::max(y, 0.0) : y;
        }
        const NormVectors norm{mean.data(), variance.data(), scaled ? scale.data() : nullptr,
                               scaled ? shift.data() : nullptr, 0.01f};
        for (const int threads : kThreadCounts) {
          const ThreadCount team(threads);
          GuardedArray y(count);
          BatchNormAdd(images, x.data(), norm, other.data(), relu, y.data());
          ExpectNear(y.span(), expected, 3e-6);
          EXPECT_TRUE(y.IsIntact());
        }
      }
    }
  }
}

TEST(PointwiseTest, DropoutFollowsTheGenerator) {
  const DropoutMask mask{7, 3, 5, 0.25};
  const Generator random(7 ^ (3 * 0x9E3779B97F4A7C15ull) ^ (5 * 0xC2B2AE3D27D4EB4Full), "dropout");
  for (const int64_t count : {1, 9, 50021}) {
    const std::vector<float> x = RandomArray(count, 1), dy = RandomArray(count, 2);
    std::vector<uint8_t> expected_kept(count);
    std::vector<double> expected(count), expected_dx(count);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t bits = random.Bits(static_cast<uint64_t>(i / 2));
      expected_kept[i] = static_cast<uint32_t>(i % 2 == 0 ? bits : bits >> 32) >= 0x40000000u;
      expected[i] = expected_kept[i] ? x[i] / 0.75 : 0;
      expected_dx[i] = expected_kept[i] ? dy[i] / 0.75 : 0;
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray y(count), dx(count);
      std::vector<uint8_t> kept(count, 9);
      DropoutForward(y.data(), x.data(), kept.data(), count, mask);
      DropoutBackward(dx.data(), dy.data(), kept.data(), count, mask.ratio);
      EXPECT_EQ(kept, expected_kept);
      ExpectNear(y.span(), expected, 1e-6);
      ExpectNear(dx.span(), expected_dx, 1e-6);
      EXPECT_TRUE(y.IsIntact() && dx.IsIntact());
    }
  }
}

TEST(PointwiseTest, DropoutKeepsTheExpectedShare) {
  const int64_t count = 100000;
  const std::vector<float> x(count, 1.0f);
  std::vector<float> y(count);
  std::vector<uint8_t> kept(count);
  for (const double ratio : {0.0, 0.3, 0.9}) {
    DropoutForward(y.data(), x.data(), kept.data(), count, {1, 2, 3, ratio});
    const double share = std::accumulate(kept.begin(), kept.end(), 0.0) / count;
    EXPECT_NEAR(share, 1 - ratio, ratio == 0 ? 0 : 0.01);
  }
}

}  // namespace
}  // namespace tench::native::pointwise_test
