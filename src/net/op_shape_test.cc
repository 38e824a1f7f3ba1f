// SPDX-License-Identifier: Apache-2.0
#include "net/op_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tench::op_shape_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kBatch = 2;

TypedLayer Numbers(std::string name, Shape shape) {
  return {Layer{std::move(name), Relu{}, {}, {}, {}}, {}, {DType::kF32, std::move(shape)}, {}};
}

TypedLayer Integers(std::string name, InputRole role, Shape shape, double low, double high) {
  return {Layer{std::move(name), Input{role, {}, {FillKind::kInteger, low, high}}, {}, {}, {}},
          {},
          {DType::kI32, std::move(shape)},
          {}};
}

Result<TensorType> TypeOf(const Op& op, const std::vector<TypedLayer>& inputs) {
  std::vector<const TypedLayer*> pointers;
  for (const TypedLayer& input : inputs) pointers.push_back(&input);
  return OutputType(op, pointers, kBatch);
}

Shape ShapeOf(const Op& op, const std::vector<TypedLayer>& inputs) {
  const Result<TensorType> type = TypeOf(op, inputs);
  EXPECT_TRUE(type.ok()) << (type.ok() ? "" : type.error().message);
  return type.ok() ? type->shape : Shape{-1};
}

std::string ErrorOf(const Op& op, const std::vector<TypedLayer>& inputs) {
  const Result<TensorType> type = TypeOf(op, inputs);
  return type.ok() ? "no error" : type.error().message;
}

Shape ImageShape(const Op& op, Shape image) {
  image.insert(image.begin(), kBatch);
  return ShapeOf(op, {Numbers("x", image)});
}

std::string ImageError(const Op& op, Shape image) {
  image.insert(image.begin(), kBatch);
  return ErrorOf(op, {Numbers("x", image)});
}

Convolution Conv(int64_t out, Hw kernel, Hw stride = {1, 1}, Hw pad = {0, 0}, Hw dilation = {1, 1},
                 int64_t groups = 1) {
  return {out, kernel, stride, pad, dilation, groups, true};
}

Pooling Pool(int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode) {
  return {PoolMode::kMax, {kernel, kernel}, {stride, stride}, {pad, pad}, ceil_mode, false};
}

TEST(OpShapeTest, ConvolutionRoundsDown) {
  EXPECT_EQ(ImageShape(Conv(96, {11, 11}, {4, 4}), {3, 227, 227}), (Shape{2, 96, 55, 55}));
  EXPECT_EQ(ImageShape(Conv(64, {7, 7}, {2, 2}, {3, 3}), {3, 224, 224}), (Shape{2, 64, 112, 112}));
  EXPECT_EQ(ImageShape(Conv(8, {1, 3}, {1, 2}, {0, 1}), {4, 5, 6}), (Shape{2, 8, 5, 3}));
}

TEST(OpShapeTest, DilationStretchesTheKernel) {
  EXPECT_EQ(ImageShape(Conv(8, {3, 3}, {1, 1}, {0, 0}, {2, 3}), {4, 9, 9}), (Shape{2, 8, 5, 3}));
  EXPECT_EQ(ImageShape(Conv(8, {3, 3}, {2, 2}, {2, 2}, {2, 2}), {4, 9, 9}), (Shape{2, 8, 5, 5}));
  EXPECT_THAT(ImageError(Conv(8, {3, 3}, {1, 1}, {0, 0}, {5, 5}), {4, 10, 10}),
              HasSubstr("extent 11 does not fit an input of 10"));
}

TEST(OpShapeTest, GroupsMustDivideBothChannelCounts) {
  EXPECT_EQ(ImageShape(Conv(256, {5, 5}, {1, 1}, {2, 2}, {1, 1}, 2), {96, 27, 27}),
            (Shape{2, 256, 27, 27}));
  EXPECT_THAT(ImageError(Conv(9, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 3), {8, 4, 4}),
              HasSubstr("3 groups do not divide the 8 input channels"));
  EXPECT_THAT(ImageError(Conv(8, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 3), {9, 4, 4}),
              HasSubstr("3 groups do not divide the 8 output channels"));
}

TEST(OpShapeTest, ConvolutionRefusesSizesThatMakeNoSense) {
  EXPECT_THAT(ImageError(Conv(0, {1, 1}), {1, 4, 4}), HasSubstr("out_channels is 0"));
  EXPECT_THAT(ImageError(Conv(1, {0, 1}), {1, 4, 4}), HasSubstr("kernel is 0"));
  EXPECT_THAT(ImageError(Conv(1, {1, 1}, {1, 0}), {1, 4, 4}), HasSubstr("stride is 0"));
  EXPECT_THAT(ImageError(Conv(1, {1, 1}, {1, 1}, {-1, 0}), {1, 4, 4}), HasSubstr("pad is -1"));
  EXPECT_THAT(ImageError(Conv(1, {1, 1}, {1, 1}, {0, 0}, {0, 1}), {1, 4, 4}),
              HasSubstr("dilation is 0"));
  EXPECT_THAT(ImageError(Conv(1, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 0), {1, 4, 4}),
              HasSubstr("groups is 0"));
  EXPECT_THAT(ImageError(Conv(1, {kMaxSize + 1, 1}), {1, 4, 4}), HasSubstr("kernel is 2147483648"));
  EXPECT_THAT(ImageError(Conv(1, {5, 5}), {1, 4, 4}), HasSubstr("does not fit"));
  EXPECT_THAT(ImageError(Conv(1, {1, 1}), {16}),
              HasSubstr("input 'x' is 2x16; it must be (N, C, H, W)"));
}

TEST(OpShapeTest, HugeButLegalNumbersDoNotOverflow) {
  EXPECT_THAT(ImageError(Conv(1, {kMaxSize, 1}, {1, 1}, {0, 0}, {kMaxSize, 1}), {1, 4, 4}),
              HasSubstr("does not fit"));
  EXPECT_THAT(ImageError(Conv(kMaxSize, {1, 1}, {1, 1}, {kMaxSize, kMaxSize}), {1, 4, 4}),
              HasSubstr("more than the 1099511627776 elements"));
}

TEST(OpShapeTest, PoolingRoundsDownUnlessCeilModeRoundsUp) {
  EXPECT_EQ(ImageShape(Pool(3, 2, 0, false), {64, 112, 112}), (Shape{2, 64, 55, 55}));
  EXPECT_EQ(ImageShape(Pool(3, 2, 0, true), {64, 112, 112}), (Shape{2, 64, 56, 56}));
  EXPECT_EQ(ImageShape(Pool(3, 2, 0, true), {96, 55, 55}), (Shape{2, 96, 27, 27}));
  EXPECT_EQ(ImageShape(Pool(3, 2, 1, false), {64, 112, 112}), (Shape{2, 64, 56, 56}));
}

TEST(OpShapeTest, CeilModeDropsALastWindowThatStartsBeyondInputAndPad) {
  // Rounded up, 4 + 2·1 gives windows at 0, 2, 4 and 5 + 2·1 windows at 0, 2, 4, 6: the last one
  // starts at 5 + 1.
  EXPECT_EQ(ImageShape(Pool(2, 2, 1, true), {1, 4, 4}), (Shape{2, 1, 3, 3}));
  EXPECT_EQ(ImageShape(Pool(2, 2, 1, true), {1, 5, 5}), (Shape{2, 1, 3, 3}));
  // The same without padding, with a stride that skips the end.
  EXPECT_EQ(ImageShape(Pool(1, 3, 0, true), {1, 5, 5}), (Shape{2, 1, 2, 2}));
}

// Counts windows by iterating over the padded input: the definition, against the formula.
int64_t CountWindows(int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  int64_t windows = 0;
  for (int64_t start = 0;; start += stride) {
    const bool previous_reached_end = start > 0 && start - stride + kernel >= size + 2 * pad;
    if (previous_reached_end || start >= size + pad) return windows;
    ++windows;
  }
}

TEST(OpShapeTest, CeilModeEqualsWalkingOverTheInput) {
  for (int64_t size = 1; size <= 12; ++size) {
    for (int64_t kernel = 1; kernel <= 5; ++kernel) {
      for (int64_t stride = 1; stride <= 5; ++stride) {
        for (int64_t pad = 0; pad < kernel; ++pad) {
          if (kernel > size + 2 * pad) continue;
          EXPECT_EQ(ImageShape(Pool(kernel, stride, pad, true), {1, size, size})[2],
                    CountWindows(size, kernel, stride, pad))
              << size << " " << kernel << " " << stride << " " << pad;
        }
      }
    }
  }
}

TEST(OpShapeTest, CeilModeLetsTheOnlyWindowRunBeyondASmallInput) {
  EXPECT_EQ(ImageShape(Pool(3, 2, 0, true), {8, 2, 2}), (Shape{2, 8, 1, 1}));
  EXPECT_THAT(ImageError(Pool(3, 2, 0, false), {8, 2, 2}), HasSubstr("does not fit"));
  EXPECT_THAT(ImageError(Pool(5, 2, 0, true), {8, 2, 2}), HasSubstr("does not fit"));
}

TEST(OpShapeTest, PoolingRefusesPadThatCouldFillAWindow) {
  EXPECT_THAT(ImageError(Pool(2, 1, 2, false), {1, 8, 8}),
              HasSubstr("pad 2 must be below the kernel's 2"));
}

TEST(OpShapeTest, GlobalPoolCoversTheImageAndTakesNothingElse) {
  Pooling pool;
  pool.mode = PoolMode::kAvg;
  pool.global = true;
  EXPECT_EQ(ImageShape(pool, {512, 7, 9}), (Shape{2, 512, 1, 1}));
  pool.kernel = {7, 7};
  EXPECT_THAT(ImageError(pool, {512, 7, 7}), HasSubstr("a global pool has no kernel"));
}

TEST(OpShapeTest, LrnNeedsAnOddSizeAndAPositiveBase) {
  EXPECT_EQ(ImageShape(Lrn{}, {96, 27, 27}), (Shape{2, 96, 27, 27}));
  EXPECT_THAT(ImageError(Lrn{4, 1e-4, 0.75, 1}, {8, 4, 4}), HasSubstr("must be odd"));
  EXPECT_THAT(ImageError(Lrn{5, -1, 0.75, 1}, {8, 4, 4}), HasSubstr("alpha is -1"));
  EXPECT_THAT(ImageError(Lrn{5, 1e-4, NAN, 1}, {8, 4, 4}), HasSubstr("beta is nan"));
  EXPECT_THAT(ImageError(Lrn{5, 1e-4, 0.75, 0}, {8, 4, 4}), HasSubstr("k is 0"));
}

TEST(OpShapeTest, ActivationsKeepTheShape) {
  for (const Op& op : {Op(Relu{}), Op(Sigmoid{}), Op(Tanh{}), Op(Dropout{})}) {
    EXPECT_EQ(ImageShape(op, {3, 4, 5}), (Shape{2, 3, 4, 5}));
    EXPECT_EQ(ImageShape(op, {7}), (Shape{2, 7}));
    EXPECT_THAT(ErrorOf(op, {}), HasSubstr("takes 1 input, not 0"));
  }
}

TEST(OpShapeTest, DropoutRatioIsBelowOne) {
  EXPECT_EQ(ImageShape(Dropout{0}, {7}), (Shape{2, 7}));
  for (double ratio : {1.0, -0.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(ImageError(Dropout{ratio}, {7}), HasSubstr("must be at least 0 and below 1"));
  }
}

TEST(OpShapeTest, FullyConnectedAsksForAFlatten) {
  EXPECT_EQ(ImageShape(FullyConnected{10, true}, {400}), (Shape{2, 10}));
  EXPECT_THAT(ImageError(FullyConnected{10, true}, {16, 5, 5}),
              HasSubstr("put a flatten before it"));
  EXPECT_EQ(ImageShape(Flatten{}, {16, 5, 5}), (Shape{2, 400}));
}

TEST(OpShapeTest, ConcatAddsUpTheSecondSize) {
  EXPECT_EQ(ShapeOf(Concat{}, {Numbers("a", {2, 64, 28, 28}), Numbers("b", {2, 128, 28, 28}),
                               Numbers("c", {2, 32, 28, 28})}),
            (Shape{2, 224, 28, 28}));
  EXPECT_THAT(ErrorOf(Concat{}, {Numbers("a", {2, 64, 28, 28}), Numbers("b", {2, 64, 27, 28})}),
              HasSubstr("input 'a' is 2x64x28x28 and 'b' is 2x64x27x28"));
  EXPECT_THAT(ErrorOf(Concat{}, {Numbers("a", {2, 64})}), HasSubstr("two or more inputs, not 1"));
}

TEST(OpShapeTest, AddNeedsOneShape) {
  EXPECT_EQ(ShapeOf(Add{}, {Numbers("a", {2, 3}), Numbers("b", {2, 3}), Numbers("c", {2, 3})}),
            (Shape{2, 3}));
  EXPECT_THAT(ErrorOf(Add{}, {Numbers("a", {2, 3}), Numbers("b", {2, 4})}),
              HasSubstr("input 'a' is 2x3 but 'b' is 2x4"));
  EXPECT_THAT(ErrorOf(Add{}, {}), HasSubstr("two or more inputs, not 0"));
}

TEST(OpShapeTest, AWeightedSumHasACoefficientPerInput) {
  const std::vector<TypedLayer> two = {Numbers("a", {2, 3}), Numbers("b", {2, 3})};
  EXPECT_EQ(ShapeOf(Add{{1, -1}}, two), (Shape{2, 3}));
  EXPECT_EQ(ErrorOf(Add{{1, -1, 1}}, two), "there are 3 coefficients for 2 inputs");
  EXPECT_THAT(ErrorOf(Add{{1, std::nan("")}}, two), HasSubstr("a coefficient is nan"));
}

TEST(OpShapeTest, ProductsAndMaximaNeedOneShape) {
  for (const Op& op : {Op(Multiply{}), Op(Maximum{})}) {
    EXPECT_EQ(ShapeOf(op, {Numbers("a", {2, 3, 4, 5}), Numbers("b", {2, 3, 4, 5})}),
              (Shape{2, 3, 4, 5}));
    EXPECT_EQ(ErrorOf(op, {Numbers("a", {2, 3}), Numbers("b", {2, 4})}),
              "input 'a' is 2x3 but 'b' is 2x4");
    EXPECT_THAT(ErrorOf(op, {Numbers("a", {2, 3})}), HasSubstr("takes two or more inputs, not 1"));
  }
}

TEST(OpShapeTest, SlicesStayInsideTheSecondSize) {
  EXPECT_EQ(ImageShape(Slice{1, 3}, {4, 5, 6}), (Shape{2, 2, 5, 6}));
  EXPECT_EQ(ShapeOf(Slice{0, 1}, {Numbers("x", {2, 7})}), (Shape{2, 1}));
  for (const Slice& bad : {Slice{-1, 2}, Slice{2, 2}, Slice{3, 2}, Slice{0, 5}}) {
    EXPECT_THAT(ImageError(bad, {4, 5, 6}), HasSubstr("must be a part of the second size, 0 to 4"));
  }
}

TEST(OpShapeTest, ReshapesKeepTheNumberOfElements) {
  EXPECT_EQ(ImageShape(Reshape{{2, 60}}, {4, 5, 6}), (Shape{2, 2, 60}));
  EXPECT_EQ(ImageShape(Reshape{{120}}, {4, 5, 6}), (Shape{2, 120}));
  EXPECT_EQ(ImageError(Reshape{{2, 61}}, {4, 5, 6}),
            "a sample of input 'x' is 4x5x6, which does not fill 2x61");
  EXPECT_THAT(ImageError(Reshape{{}}, {4, 5, 6}), HasSubstr("1, 2 or 3 sizes per sample, not 0"));
  EXPECT_THAT(ImageError(Reshape{{1, 2, 3, 20}}, {4, 5, 6}), HasSubstr("not 4"));
  EXPECT_THAT(ImageError(Reshape{{0, 120}}, {4, 5, 6}), HasSubstr("a size of its shape is 0"));
}

TEST(OpShapeTest, ScaleAndSoftmaxTakeImagesAndVectors) {
  for (const Op& op : {Op(Scale{}), Op(Softmax{})}) {
    EXPECT_EQ(ImageShape(op, {4, 5, 6}), (Shape{2, 4, 5, 6}));
    EXPECT_EQ(ShapeOf(op, {Numbers("x", {2, 7})}), (Shape{2, 7}));
    EXPECT_THAT(ErrorOf(op, {Numbers("x", {2, 7, 3})}),
                HasSubstr("it must be (N, F) or (N, C, H, W)"));
  }
}

TEST(OpShapeTest, ALabelThatIsIgnoredMayLieOutsideTheClasses) {
  const std::vector<TypedLayer> inside = {Numbers("x", {2, 5}),
                                          Integers("y", InputRole::kLabel, {2}, 0, 5)};
  EXPECT_EQ(ShapeOf(SoftmaxCrossEntropy{1, false, 255}, inside), Shape{});
  EXPECT_EQ(ShapeOf(SoftmaxCrossEntropy{1, false, -1}, inside), Shape{});
  EXPECT_THAT(ErrorOf(SoftmaxCrossEntropy{1, false, int64_t{1} << 40}, inside),
              HasSubstr("ignore_label is"));
  EXPECT_THAT(ErrorOf(SoftmaxCrossEntropy{}, {Numbers("x", {2, 5, 3, 3}), inside[1]}),
              HasSubstr("labels of each pixel are not supported"));
}

TEST(OpShapeTest, NumbersOfElementOpsAreFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ImageShape(Power{0.5, 2, 1}, {4, 5, 6}), (Shape{2, 4, 5, 6}));
  EXPECT_THAT(ImageError(Relu{infinite}, {4, 5, 6}),
              HasSubstr("negative_slope is inf; it must be finite"));
  for (const Power& bad : {Power{infinite, 1, 0}, Power{1, infinite, 0}, Power{1, 1, std::nan("")}})
    EXPECT_THAT(ImageError(bad, {4, 5, 6}), HasSubstr("it must be finite"));
}

TEST(OpShapeTest, BatchNormTakesImagesAndVectors) {
  EXPECT_EQ(ImageShape(BatchNorm{}, {3, 4, 5}), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(ImageShape(BatchNorm{}, {3}), (Shape{2, 3}));
  EXPECT_THAT(ImageError(BatchNorm{}, {3, 4}), HasSubstr("must be (N, F) or (N, C, H, W)"));
  EXPECT_THAT(ImageError(BatchNorm{0, 0.1}, {3}), HasSubstr("eps is 0"));
  EXPECT_THAT(ImageError(BatchNorm{1e-5, 1.5}, {3}), HasSubstr("momentum is 1.5"));
}

TEST(OpShapeTest, RecurrentLayersPassSequencesOn) {
  const TypedLayer tokens = Integers("tokens", InputRole::kTokens, {2, 100}, 0, 20000);
  EXPECT_EQ(ShapeOf(Embedding{20000, 128}, {tokens}), (Shape{2, 100, 128}));
  EXPECT_EQ(ShapeOf(Lstm{64}, {Numbers("x", {2, 100, 128})}), (Shape{2, 100, 64}));
  const TypedLayer lengths = Integers("lengths", InputRole::kLengths, {2}, 1, 101);
  EXPECT_EQ(ShapeOf(MeanOverTime{}, {Numbers("x", {2, 100, 64}), lengths}), (Shape{2, 64}));
}

TEST(OpShapeTest, IntegersMustHaveTheRoleThatTheOpReads) {
  const TypedLayer labels = Integers("label", InputRole::kLabel, {2}, 0, 10);
  const TypedLayer lengths = Integers("lengths", InputRole::kLengths, {2}, 1, 5);
  EXPECT_THAT(ErrorOf(SoftmaxCrossEntropy{}, {Numbers("x", {2, 10}), lengths}),
              HasSubstr("'lengths' must be an input layer with the role 'label'"));
  EXPECT_THAT(ErrorOf(SoftmaxCrossEntropy{}, {Numbers("x", {2, 10}), Numbers("y", {2})}),
              HasSubstr("the role 'label'"));
  EXPECT_THAT(ErrorOf(MeanOverTime{}, {Numbers("x", {2, 5, 3}), labels}),
              HasSubstr("the role 'lengths'"));
  EXPECT_THAT(ErrorOf(Embedding{10, 4}, {labels}), HasSubstr("the role 'tokens'"));
  EXPECT_THAT(ErrorOf(Relu{}, {labels}), HasSubstr("'label' has integers"));
}

TEST(OpShapeTest, IntegersMustStayInsideWhatTheyIndex) {
  EXPECT_THAT(ErrorOf(SoftmaxCrossEntropy{},
                      {Numbers("x", {2, 9}), Integers("label", InputRole::kLabel, {2}, 0, 10)}),
              HasSubstr("labels reach 9 but there are 9 scores"));
  EXPECT_THAT(ErrorOf(Embedding{99, 4}, {Integers("tokens", InputRole::kTokens, {2, 5}, 0, 100)}),
              HasSubstr("tokens reach 99"));
  EXPECT_THAT(ErrorOf(MeanOverTime{}, {Numbers("x", {2, 5, 3}),
                                       Integers("lengths", InputRole::kLengths, {2}, 1, 7)}),
              HasSubstr("lengths reach 6 but there are 5 steps"));
}

TEST(OpShapeTest, LossesAreScalarsThatNothingReads) {
  const TypedLayer labels = Integers("label", InputRole::kLabel, {2}, 0, 10);
  EXPECT_EQ(ShapeOf(SoftmaxCrossEntropy{}, {Numbers("x", {2, 10}), labels}), Shape{});
  EXPECT_EQ(
      ShapeOf(SigmoidCrossEntropy{}, {Numbers("x", {2, 3, 4, 4}), Numbers("y", {2, 3, 4, 4})}),
      Shape{});
  EXPECT_THAT(ErrorOf(MeanSquaredError{}, {Numbers("x", {2, 3}), Numbers("y", {2, 4})}),
              HasSubstr("values are 2x3 but targets are 2x4"));
  EXPECT_THAT(ErrorOf(MeanSquaredError{0}, {Numbers("x", {2, 3}), Numbers("y", {2, 3})}),
              HasSubstr("loss_weight is 0"));
  TypedLayer loss = Numbers("loss", {});
  loss.layer.op = MeanSquaredError{};
  EXPECT_THAT(ErrorOf(Relu{}, {loss}), HasSubstr("'loss' is a loss"));
}

TEST(OpShapeTest, InputsPutTheBatchInFront) {
  EXPECT_EQ(ShapeOf(Input{InputRole::kData, {1, 28, 28}, {}}, {}), (Shape{2, 1, 28, 28}));
  const Fill digits{FillKind::kInteger, 0, 10};
  const Result<TensorType> label = TypeOf(Input{InputRole::kLabel, {}, digits}, {});
  ASSERT_TRUE(label.ok());
  EXPECT_EQ(*label, (TensorType{DType::kI32, {2}}));
  EXPECT_EQ(ShapeOf(Input{InputRole::kTokens, {9}, digits}, {}), (Shape{2, 9}));
}

TEST(OpShapeTest, InputsRefuseShapesAndFillsThatDoNotFitTheirRole) {
  const Fill digits{FillKind::kInteger, 0, 10};
  EXPECT_THAT(ErrorOf(Input{InputRole::kData, {}, {}}, {}),
              HasSubstr("1, 2 or 3 sizes per sample, not 0"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kData, {1, 2, 3, 4}, {}}, {}), HasSubstr("not 4"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kData, {3, 0}, {}}, {}),
              HasSubstr("a size of its shape is 0"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kData, {3}, {FillKind::kXavier, 0, 0}}, {}),
              HasSubstr("xavier and msra"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kLabel, {3}, digits}, {}), HasSubstr("0 sizes, not 1"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kLabel, {}, {FillKind::kUniform, 0, 1}}, {}),
              HasSubstr("must be an integer fill"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kLabel, {}, {FillKind::kConstant, 0.5, 0}}, {}),
              HasSubstr("must be an integer fill"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kTokens, {4}, {FillKind::kInteger, -1, 10}}, {}),
              HasSubstr("down to -1"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kLengths, {}, digits}, {}),
              HasSubstr("down to 0; the lowest value is 1"));
  EXPECT_THAT(ErrorOf(Input{InputRole::kData, {3}, {}}, {Numbers("x", {2, 3})}),
              HasSubstr("takes 0 inputs, not 1"));
}

}  // namespace
}  // namespace tench::op_shape_test
