// SPDX-License-Identifier: Apache-2.0
// Our own kernels of convolutions, pools and tall dense layers against the definition, in double.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "workers/native/kernels/conv_backward_data.h"
#include "workers/native/kernels/conv_backward_weights.h"
#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/max_pool.h"
#include "workers/native/kernels/packed_gemm.h"
#include "workers/native/kernels/small_batch_inner_product.h"
#include "workers/native/kernels/winograd/conv.h"

namespace tench::native {
namespace {

constexpr int64_t kBlock = kChannelBlock;

int64_t Padded(int64_t channels, int64_t block = kBlock) {
  return (channels + block - 1) / block * block;
}

// Images in blocks of channels, those beyond the last zero.
class Images {
 public:
  Images(int64_t count, int64_t channels, int64_t h, int64_t w, int64_t block = kBlock)
      : channels_(channels),
        h_(h),
        w_(w),
        block_(block),
        data_(count * Padded(channels, block) * h * w) {}

  float& at(int64_t n, int64_t c, int64_t h, int64_t w) {
    return data_[((n * Padded(channels_, block_) / block_ + c / block_) * h_ * w_ + h * w_ + w) *
                     block_ +
                 c % block_];
  }
  void Fill(int64_t count) {
    uint32_t state = 17;
    for (int64_t n = 0; n < count; ++n) {
      for (int64_t c = 0; c < channels_; ++c) {
        for (int64_t p = 0; p < h_ * w_; ++p)
          at(n, c, p / w_, p % w_) =
              static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-23f - 1;
      }
    }
  }
  float* data() { return data_.data(); }

 private:
  int64_t channels_, h_, w_, block_;
  std::vector<float> data_;
};

// The place of a weight in (g, o / B, i / B, kh, kw, B i, B o); `o` and `i` count within the group.
int64_t WeightAt(const BlockedConvShape& s, int64_t g, int64_t o, int64_t i, int64_t tap) {
  const int64_t out_blocks = Padded(s.out_channels / s.groups, s.block) / s.block,
                in_blocks = Padded(s.in_channels / s.groups, s.block) / s.block;
  const int64_t block =
      ((g * out_blocks + o / s.block) * in_blocks + i / s.block) * s.kernel_h * s.kernel_w + tap;
  return (block * s.block + i % s.block) * s.block + o % s.block;
}

int64_t WeightCount(const BlockedConvShape& s) {
  return Padded(s.out_channels / s.groups, s.block) * Padded(s.in_channels / s.groups, s.block) *
         s.groups * s.kernel_h * s.kernel_w;
}

// Calls visit(n, g, o, i, tap, h, w, row, column) for every product that the convolution is made
// of.
template <class Visit>
void ForEachProduct(const BlockedConvShape& s, const Visit& visit) {
  const int64_t out = s.out_channels / s.groups, in = s.in_channels / s.groups;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t pixel = 0; pixel < s.out_h * s.out_w; ++pixel) {
      for (int64_t tap = 0; tap < s.kernel_h * s.kernel_w; ++tap) {
        const int64_t row = pixel / s.out_w, column = pixel % s.out_w;
        const int64_t h = row * s.stride_h + tap / s.kernel_w * s.dilation_h - s.pad_h,
                      w = column * s.stride_w + tap % s.kernel_w * s.dilation_w - s.pad_w;
        if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w) continue;
        for (int64_t g = 0; g < s.groups; ++g) {
          for (int64_t oi = 0; oi < out * in; ++oi)
            visit(n, g, oi / in, oi % in, tap, h, w, row, column);
        }
      }
    }
  }
}

// The gradient of the bias.
std::vector<double> SumOfPixels(const BlockedConvShape& shape, Images& dy) {
  std::vector<double> sums(shape.out_channels);
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t o = 0; o < shape.out_channels; ++o) {
      for (int64_t p = 0; p < shape.out_h * shape.out_w; ++p)
        sums[o] += dy.at(n, o, p / shape.out_w, p % shape.out_w);
    }
  }
  return sums;
}

std::vector<float> SomeWeights(const BlockedConvShape& shape) {
  std::vector<float> weights(WeightCount(shape));  // zeros beyond the last channel
  uint32_t state = 5;
  for (int64_t g = 0; g < shape.groups; ++g) {
    for (int64_t oi = 0;
         oi < shape.out_channels / shape.groups * (shape.in_channels / shape.groups); ++oi) {
      const int64_t o = oi * shape.groups / shape.in_channels,
                    i = oi % (shape.in_channels / shape.groups);
      for (int64_t tap = 0; tap < shape.kernel_h * shape.kernel_w; ++tap)
        weights[WeightAt(shape, g, o, i, tap)] =
            static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24f - 0.5f;
    }
  }
  return weights;
}

struct NamedShape {
  std::string name;
  BlockedConvShape shape;
};

BlockedConvShape Shaped(int64_t batch, int64_t groups, int64_t in, int64_t out, int64_t h,
                        int64_t w, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  const auto size = [&](int64_t length) {
    return (length + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  };
  return {batch,  groups, in,     out, h,   w,        size(h),  size(w), kernel,
          kernel, stride, stride, pad, pad, dilation, dilation, kBlock,  false};
}

class OwnConvTest : public testing::TestWithParam<NamedShape> {
 protected:
  void SetUp() override {
    if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
    x.Fill(shape.batch);
    dy.Fill(shape.batch);
  }
  const BlockedConvShape shape = GetParam().shape;
  Images x{shape.batch, shape.in_channels, shape.in_h, shape.in_w, shape.block};
  Images dy{shape.batch, shape.out_channels, shape.out_h, shape.out_w, shape.block};
  const int64_t in = shape.in_channels / shape.groups, out = shape.out_channels / shape.groups;

  std::vector<double> WeightGradient() {
    std::vector<double> gradient(WeightCount(shape));
    ForEachProduct(shape, [&](int64_t n, int64_t g, int64_t o, int64_t i, int64_t tap, int64_t h,
                              int64_t w, int64_t row, int64_t column) {
      gradient[WeightAt(shape, g, o, i, tap)] +=
          double{x.at(n, g * in + i, h, w)} * dy.at(n, g * out + o, row, column);
    });
    return gradient;
  }
  // As `dx` lies in memory.
  std::vector<double> InputGradient(const std::vector<float>& weights, Images& dx) {
    std::vector<double> gradient(shape.batch * Padded(shape.in_channels, shape.block) * shape.in_h *
                                 shape.in_w);
    ForEachProduct(shape, [&](int64_t n, int64_t g, int64_t o, int64_t i, int64_t tap, int64_t h,
                              int64_t w, int64_t row, int64_t column) {
      gradient[&dx.at(n, g * in + i, h, w) - dx.data()] +=
          double{weights[WeightAt(shape, g, o, i, tap)]} * dy.at(n, g * out + o, row, column);
    });
    return gradient;
  }
};

TEST_P(OwnConvTest, GradientOfTheWeights) {
  const std::vector<double> expected = WeightGradient(), expected_bias = SumOfPixels(shape, dy);
  std::vector<float> dw(expected.size(), 99), db(shape.out_channels, 99),
      scratch(ConvBackwardWeightsScratch(shape, omp_get_max_threads()));
  ConvBackwardWeights(shape, x.data(), dy.data(), dw.data(), scratch.data());
  ConvBackwardBias(shape, dy.data(), db.data());
  for (size_t i = 0; i < dw.size(); ++i) ASSERT_NEAR(dw[i], expected[i], 1e-3) << i;
  for (size_t i = 0; i < db.size(); ++i) ASSERT_NEAR(db[i], expected_bias[i], 1e-3) << i;
}

TEST_P(OwnConvTest, GradientOfTheInput) {
  const std::vector<float> weights = SomeWeights(shape);
  Images dx(shape.batch, shape.in_channels, shape.in_h, shape.in_w);
  const std::vector<double> expected = InputGradient(weights, dx);
  ASSERT_TRUE(HasConvBackwardData(shape));
  std::fill_n(dx.data(), expected.size(), 99.0f);
  std::vector<float> scratch(ConvBackwardDataScratch(shape, omp_get_max_threads()));
  ConvBackwardData(shape, dy.data(), weights.data(), dx.data(), scratch.data());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(dx.data()[i], expected[i], 1e-3) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OwnConvTest,
    testing::Values(NamedShape{"lenet", Shaped(3, 1, 20, 50, 12, 12, 5, 1, 0, 1)},
                    NamedShape{"padded", Shaped(2, 1, 16, 24, 13, 11, 3, 1, 1, 1)},
                    NamedShape{"strided", Shaped(2, 1, 8, 40, 15, 14, 3, 2, 1, 1)},
                    NamedShape{"dilated", Shaped(1, 1, 9, 8, 12, 12, 3, 1, 2, 2)},
                    NamedShape{"groups", Shaped(2, 2, 16, 48, 9, 9, 5, 1, 2, 1)},
                    NamedShape{"one_by_one", Shaped(2, 1, 32, 17, 7, 7, 1, 1, 0, 1)},
                    NamedShape{"one_by_one_strided", Shaped(2, 1, 8, 16, 8, 8, 1, 2, 0, 1)},
                    NamedShape{"wide_rows", Shaped(1, 1, 8, 8, 3, 300, 3, 1, 1, 1)},
                    NamedShape{"kernel_wider_than_the_image",
                               Shaped(1, 1, 8, 8, 2, 2, 5, 1, 2, 1)}),
    [](const auto& param) { return param.param.name; });

// The root mean square of the difference, over that of what was expected.
double Distance(std::span<const float> found, std::span<const double> expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

class WinogradTest : public OwnConvTest {
 protected:
  void SetUp() override {
    OwnConvTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(HasWinograd(shape));
    scratch.resize(WinogradScratch(shape), 77.0f);
  }
  std::vector<float> scratch;
};

constexpr double kWinogradRounding = 5e-6;

TEST_P(WinogradTest, Forward) {
  const std::vector<float> weights = SomeWeights(shape);
  std::vector<float> bias(shape.out_channels);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 7) - 3;
  Images y(shape.batch, shape.out_channels, shape.out_h, shape.out_w, shape.block);
  std::vector<double> expected(shape.batch * Padded(shape.out_channels, shape.block) * shape.out_h *
                               shape.out_w);
  ForEachProduct(shape, [&](int64_t n, int64_t g, int64_t o, int64_t i, int64_t tap, int64_t h,
                            int64_t w, int64_t row, int64_t column) {
    expected[&y.at(n, g * out + o, row, column) - y.data()] +=
        double{weights[WeightAt(shape, g, o, i, tap)]} * x.at(n, g * in + i, h, w);
  });
  WinogradForward(shape, x.data(), weights.data(), nullptr, false, y.data(), scratch.data());
  EXPECT_LT(Distance({y.data(), expected.size()}, expected), kWinogradRounding);
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t o = 0; o < shape.out_channels; ++o) {
      for (int64_t p = 0; p < shape.out_h * shape.out_w; ++p) {
        double& at = expected[&y.at(n, o, p / shape.out_w, p % shape.out_w) - y.data()];
        at = std::max(0.0, at + bias[o]);
      }
    }
  }
  WinogradForward(shape, x.data(), weights.data(), bias.data(), true, y.data(), scratch.data());
  EXPECT_LT(Distance({y.data(), expected.size()}, expected), kWinogradRounding);
}

TEST_P(WinogradTest, GradientOfTheInput) {
  const std::vector<float> weights = SomeWeights(shape);
  Images dx(shape.batch, shape.in_channels, shape.in_h, shape.in_w, shape.block);
  const std::vector<double> expected = InputGradient(weights, dx);
  WinogradBackwardData(shape, dy.data(), weights.data(), dx.data(), scratch.data());
  EXPECT_LT(Distance({dx.data(), expected.size()}, expected), kWinogradRounding);
}

TEST_P(WinogradTest, GradientOfTheWeights) {
  const std::vector<double> expected = WeightGradient();
  std::vector<float> dw(expected.size(), 99);
  WinogradBackwardWeights(shape, x.data(), dy.data(), dw.data(), scratch.data());
  EXPECT_LT(Distance(dw, expected), kWinogradRounding);

  const std::vector<double> expected_bias = SumOfPixels(shape, dy);
  std::vector<float> db(expected_bias.size(), 99);
  ConvBackwardBias(shape, dy.data(), db.data());
  EXPECT_LT(Distance(db, expected_bias), kWinogradRounding);
}

// Small convolutions give each thread tiles and sums of its own, if there are several.
TEST_P(WinogradTest, AnyNumberOfThreadsGivesTheSame) {
  const std::vector<float> weights = SomeWeights(shape);
  Images y(shape.batch, shape.out_channels, shape.out_h, shape.out_w, shape.block),
      dx(shape.batch, shape.in_channels, shape.in_h, shape.in_w, shape.block);
  const int64_t outputs =
      shape.batch * Padded(shape.out_channels, shape.block) * shape.out_h * shape.out_w;
  const int64_t inputs =
      shape.batch * Padded(shape.in_channels, shape.block) * shape.in_h * shape.in_w;
  std::vector<float> dw(WeightCount(shape));
  std::vector<double> expected;
  const int usual = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    scratch.assign(WinogradScratch(shape), 77.0f);
    WinogradForward(shape, x.data(), weights.data(), nullptr, true, y.data(), scratch.data());
    WinogradBackwardData(shape, dy.data(), weights.data(), dx.data(), scratch.data());
    WinogradBackwardWeights(shape, x.data(), dy.data(), dw.data(), scratch.data());
    std::vector<float> found(y.data(), y.data() + outputs);
    found.insert(found.end(), dx.data(), dx.data() + inputs);
    found.insert(found.end(), dw.begin(), dw.end());
    if (threads == 1) expected.assign(found.begin(), found.end());
    EXPECT_LT(Distance(found, expected), kWinogradRounding) << threads << " threads";
  }
  omp_set_num_threads(usual);
}

// Every CPU has the code for both sizes of blocks, with whatever vectors it has.
NamedShape InWideBlocks(NamedShape named) {
  named.shape.block = 16;
  return {named.name + "_in_wide_blocks", named.shape};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WinogradTest,
    testing::Values(
        NamedShape{"three", Shaped(2, 1, 16, 24, 12, 8, 3, 1, 1, 1)},
        NamedShape{"tiles_beyond_the_edge", Shaped(2, 1, 16, 32, 13, 7, 3, 1, 1, 1)},
        NamedShape{"unpadded", Shaped(1, 1, 8, 16, 9, 11, 3, 1, 0, 1)},
        NamedShape{"padded_by_all_but_one", Shaped(1, 1, 8, 8, 5, 6, 3, 1, 2, 1)},
        NamedShape{"five", Shaped(2, 1, 16, 40, 9, 10, 5, 1, 2, 1)},
        NamedShape{"five_unpadded", Shaped(1, 1, 24, 16, 8, 8, 5, 1, 0, 1)},
        NamedShape{"groups", Shaped(2, 2, 48, 32, 6, 6, 5, 1, 2, 1)},
        NamedShape{"channels_that_fill_no_block", Shaped(3, 1, 20, 50, 12, 12, 5, 1, 0, 1)},
        NamedShape{"one_channel_more", Shaped(2, 1, 17, 9, 6, 6, 3, 1, 1, 1)},
        NamedShape{"unpadded_in_lots", Shaped(40, 1, 24, 64, 12, 12, 5, 1, 0, 1)},
        NamedShape{"unpadded_groups", Shaped(2, 2, 16, 16, 7, 8, 5, 1, 0, 1)},
        InWideBlocks({"three", Shaped(2, 1, 32, 48, 12, 9, 3, 1, 1, 1)}),
        InWideBlocks({"five", Shaped(2, 1, 16, 40, 9, 10, 5, 1, 2, 1)}),
        InWideBlocks({"channels_that_fill_no_block", Shaped(9, 1, 20, 50, 12, 12, 5, 1, 0, 1)}),
        InWideBlocks({"groups", Shaped(2, 2, 96, 32, 6, 6, 3, 1, 1, 1)}),
        NamedShape{"several_lots", Shaped(2, 1, 64, 48, 56, 44, 3, 1, 1, 1)},
        NamedShape{"several_slabs", Shaped(1, 1, 400, 392, 5, 5, 3, 1, 1, 1)},
        NamedShape{"smaller_than_a_tile", Shaped(3, 1, 8, 8, 2, 2, 5, 1, 2, 1)}),
    [](const auto& param) { return param.param.name; });

TEST(WinogradShapeTest, IsFavouredWhereTilesAreMany) {
  if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_FALSE(FavoursWinograd(Shaped(1, 1, 64, 64, 14, 14, 3, 1, 1, 1)));  // 16 tiles
  EXPECT_TRUE(FavoursWinograd(Shaped(2, 1, 64, 64, 14, 14, 3, 1, 1, 1)));
  EXPECT_FALSE(FavoursWinograd(Shaped(64, 1, 64, 64, 14, 14, 3, 2, 1, 1)));
}

TEST(WinogradShapeTest, LeavesOtherConvolutionsToOthers) {
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 2, 1, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 1, 2, 2)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 7, 1, 3, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 4, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 2, 24, 16, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 1, 3, 1)));
}

TEST(OwnPlainConvTest, GradientOfTheWeights) {
  struct Case {
    int64_t channels, out, size, kernel, stride, pad, dilation;
  };
  for (const Case& c :
       {Case{1, 20, 28, 5, 1, 0, 1}, Case{3, 96, 47, 11, 4, 0, 1}, Case{3, 16, 21, 7, 2, 3, 1},
        Case{2, 8, 12, 3, 1, 2, 2}, Case{4, 9, 9, 1, 1, 0, 1}}) {
    BlockedConvShape s =
        Shaped(3, 1, c.channels, c.out, c.size, c.size, c.kernel, c.stride, c.pad, c.dilation);
    s.plain_in = true;
    if (!HasConvBackwardWeights(s)) GTEST_SKIP() << "this CPU has no AVX2";
    Images dy(s.batch, c.out, s.out_h, s.out_w);
    dy.Fill(s.batch);
    std::vector<float> x(s.batch * c.channels * c.size * c.size);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 101) * 0.01f - 0.5f;
    std::vector<double> expected(Padded(c.out) * c.kernel * c.kernel *
                                 c.channels);  // (o / 8, kh, kw, i, 8 o)
    ForEachProduct(s, [&](int64_t n, int64_t, int64_t o, int64_t i, int64_t tap, int64_t h,
                          int64_t w, int64_t row, int64_t column) {
      const int64_t at =
          ((o / kBlock * c.kernel * c.kernel + tap) * c.channels + i) * kBlock + o % kBlock;
      expected[at] +=
          double{x[((n * c.channels + i) * c.size + h) * c.size + w]} * dy.at(n, o, row, column);
    });
    std::vector<float> dw(expected.size(), 99),
        scratch(ConvBackwardWeightsScratch(s, omp_get_max_threads()));
    ConvBackwardWeights(s, x.data(), dy.data(), dw.data(), scratch.data());
    for (size_t i = 0; i < dw.size(); ++i)
      ASSERT_NEAR(dw[i], expected[i], 1e-3) << c.kernel << " " << i;
  }
}

TEST(TallDenseTest, IsTheProduct) {
  for (const int64_t batch : {8, 16, 19, 32}) {
    const DenseShape shape{batch, 1031, 1021};
    ASSERT_EQ(FavoursSmallBatchInnerProduct(shape),
              WidestVectorsAreAvx2());  // right on any CPU, fast on some
    std::vector<float> x(batch * shape.in), w(shape.in * shape.out), b(shape.out),
        y(batch * shape.out), dx(x.size(), 99), scratch(SmallBatchInnerProductScratch(shape));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 101) * 0.01f - 0.5f;
    for (size_t i = 0; i < w.size(); ++i)
      w[i] = static_cast<float>(i * 104729 % 103) * 0.01f - 0.5f;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
    SmallBatchInnerProductForward(shape, x.data(), w.data(), b.data(), true, y.data(),
                                  scratch.data());
    SmallBatchInnerProductBackwardData(shape, y.data(), w.data(), dx.data(), scratch.data());
    for (int64_t n = 0; n < batch; n += 3) {
      for (int64_t o = 0; o < shape.out; o += 7) {
        double sum = b[o];
        for (int64_t i = 0; i < shape.in; ++i)
          sum += double{x[n * shape.in + i]} * w[o * shape.in + i];
        ASSERT_NEAR(y[n * shape.out + o], std::max(sum, 0.0), 1e-3) << n << " " << o;
      }
      for (int64_t i = 0; i < shape.in; i += 7) {
        double sum = 0;
        for (int64_t o = 0; o < shape.out; ++o)
          sum += double{y[n * shape.out + o]} * w[o * shape.in + i];
        ASSERT_NEAR(dx[n * shape.in + i], sum, 5e-3) << n << " " << i;
      }
    }
  }
}

TEST(OwnMaxPoolTest, TakesTheFirstOfTheLargestAndGivesItTheGradient) {
  const MaxPoolShape shape{2, 2, 3, 2, 3, 8};
  if (!HasMaxPool(shape)) GTEST_SKIP() << "this CPU has no AVX2";
  const int64_t in_w = shape.out_w * shape.kernel_w,
                outputs = shape.planes * shape.out_h * shape.out_w * shape.block;
  std::vector<float> x(outputs * shape.kernel_h * shape.kernel_w), y(outputs), dy(outputs),
      dx(x.size(), 99);
  std::vector<uint8_t> which(outputs);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 5);  // many are equal
  x[3] = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i + 1);
  MaxPoolForward(shape, x.data(), y.data(), which.data());
  MaxPoolBackward(shape, dy.data(), which.data(), dx.data());
  std::vector<float> expected_dx(x.size());
  for (int64_t at = 0; at < outputs; ++at) {
    const int64_t c = at % shape.block, w = at / shape.block % shape.out_w,
                  row = at / shape.block / shape.out_w;
    int64_t best = -1;
    for (int64_t k = 0; k < shape.kernel_h * shape.kernel_w; ++k) {
      const int64_t from = ((row * shape.kernel_h + k / shape.kernel_w) * in_w +
                            w * shape.kernel_w + k % shape.kernel_w) *
                               shape.block +
                           c;
      if (best < 0 || x[from] > x[best] || std::isnan(x[from])) best = from;
    }
    expected_dx[best] = dy[at];
    if (at == 3)
      EXPECT_TRUE(std::isnan(y[at]));
    else
      EXPECT_EQ(y[at], x[best]) << at;
  }
  EXPECT_EQ(dx, expected_dx);
}

}  // namespace
}  // namespace tench::native
