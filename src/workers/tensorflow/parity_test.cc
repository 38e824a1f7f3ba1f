// SPDX-License-Identifier: Apache-2.0
// TensorFlow against the reference worker: every op in the forms that its lowering tells apart,
// forward, backward and over five updates.
#include <gtest/gtest.h>

#include "net/builder.h"
#include "worker/adapter_run.h"
#include "workers/reference/adapter.h"
#include "workers/tensorflow/adapter.h"

namespace tench::tensorflow {
namespace {

constexpr double kTolerance = 1e-5;
const ParameterRule kXavier{{FillKind::kXavier, 0, 0}};
const ParameterRule kBias{{FillKind::kUniform, -0.5, 0.5}, 2, 0};
const Fill kValues{FillKind::kUniform, -1.7, 1.7};

void ExpectClose(const std::string& what, const Tensors& expected, const Tensors& got,
                 double tolerance) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(got.contains(name)) << what << " of " << name;
    EXPECT_LE(RelativeError(values, got.at(name), 1e-7), tolerance) << what << " of " << name;
  }
}

void ExpectParity(const Graph& graph, int64_t batch = 4, const Solver& solver = {}) {
  const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(),
                                 worker = MakeTensorFlowAdapter();
  for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
    for (const bool observe : {true, false}) {
      SCOPED_TRACE(graph.name + " " + Name(phase) + (observe ? " observed" : ""));
      BuildOptions options;
      options.phase = phase;
      options.observe = observe;
      options.dropout = false;
      options.threads = 2;
      options.solver = solver;
      const int steps = phase == Phase::kTrain ? 5 : 1;
      const auto expected = RunGraph(*reference, graph, batch, options, steps);
      const auto got = RunGraph(*worker, graph, batch, options, steps);
      ASSERT_TRUE(expected.ok()) << expected.error().message;
      ASSERT_TRUE(got.ok()) << got.error().message;
      for (int i = 0; i < steps; ++i)
        EXPECT_NEAR(got->losses[i], expected->losses[i],
                    kTolerance * std::abs(expected->losses[i]));
      ExpectClose("outputs", expected->outputs, got->outputs, kTolerance);
      ExpectClose("gradients", expected->gradients, got->gradients, kTolerance);
      ExpectClose("parameters", expected->parameters, got->parameters, kTolerance);
      ExpectClose("state", expected->state, got->state, 2 * kTolerance);
    }
  }
}

// data -> a convolution that passes a gradient on -> the op -> flatten, which stays in HWC ->
// scores.
Graph AroundOp(const std::string& name, const Shape& image, const Op& op, ParameterRule weight = {},
               ParameterRule bias = {}) {
  GraphBuilder b(name);
  b.Append("data", Input{InputRole::kData, image, kValues}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  Convolution stem{image[0], {1, 1}};
  stem.bias = false;  // before a batch norm its gradient would be rounding alone
  b.Append("stem", stem, {"data"}, kXavier);
  b.Append("op", op, {"stem"}, weight, bias);
  b.Append("flat", Flatten{}, {"op"});
  b.Append("scores", FullyConnected{3}, {"flat"}, kXavier, kBias);
  b.Append("loss", SoftmaxCrossEntropy{0.7}, {"scores", "label"});
  return b.Take();
}

TEST(ParityTest, ConvolutionsAgreeWhateverTheirPaddingStrideDilationAndGroups) {
  const auto check = [](const std::string& name, const Convolution& conv, const Shape& image) {
    ExpectParity(AroundOp(name, image, conv, kXavier, conv.bias ? kBias : ParameterRule{}));
  };
  check("valid", {4, {3, 3}}, {3, 9, 8});
  check("same", {4, {3, 3}, {1, 1}, {1, 1}}, {3, 9, 8});
  check("padded", {4, {3, 3}, {2, 2}, {1, 1}}, {3, 8, 8});
  check("uneven", {4, {5, 2}, {3, 2}, {2, 0}}, {3, 11, 9});
  check("dilated", {4, {3, 3}, {1, 1}, {2, 1}, {2, 3}}, {2, 9, 10});
  check("dilated-and-strided", {4, {3, 3}, {2, 2}, {2, 2}, {2, 2}, 2}, {4, 9, 10});
  check("two-groups", {6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2}, {4, 7, 7});
  check("many-groups", {40, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 20, false}, {40, 5, 5});
}

TEST(ParityTest, PoolsAgreeWhateverTheirPadding) {
  for (const PoolMode mode : {PoolMode::kMax, PoolMode::kAvg}) {
    const std::string name = mode == PoolMode::kMax ? "max" : "avg";
    const auto check = [&](const Hw& kernel, const Hw& stride, const Hw& pad, bool ceil_mode,
                           const Shape& image) {
      ExpectParity(AroundOp(name, image, Pooling{mode, kernel, stride, pad, ceil_mode}));
    };
    check({2, 2}, {2, 2}, {0, 0}, false, {3, 8, 8});
    check({3, 3}, {2, 2}, {0, 0}, true, {3, 8, 8});   // SAME
    check({3, 3}, {2, 2}, {1, 1}, false, {3, 8, 8});  // padded before, not behind
    check({3, 3}, {2, 2}, {1, 1}, true, {3, 8, 9});   // beyond the padding
    check({3, 3}, {1, 1}, {1, 1}, false, {3, 6, 7});
    check({3, 2}, {3, 2}, {1, 0}, true, {3, 7, 9});
    ExpectParity(
        AroundOp(name + "-global", {3, 5, 6}, Pooling{mode, {1, 1}, {1, 1}, {0, 0}, false, true}));
  }
}

TEST(ParityTest, NormalisationsAgree) {
  ExpectParity(AroundOp("lrn", {12, 4, 5}, Lrn{5, 0.3, 0.75, 2}));
  ExpectParity(AroundOp("lrn-of-three", {7, 4, 5}, Lrn{3, 0.9, 0.5, 1}));
  ExpectParity(AroundOp("batch-norm", {5, 4, 3}, BatchNorm{1e-3, 0.3},
                        {{FillKind::kUniform, 0.5, 1.5}}, kBias));
}

TEST(ParityTest, OpsOfCaffesNetworksAgree) {
  const ParameterRule scale{{FillKind::kUniform, 0.5, 1.5}};
  const auto each = [&](const std::string& name, const Op& op, ParameterRule weight = {},
                        ParameterRule bias = {}) {
    ExpectParity(AroundOp(name, {5, 4, 3}, op, weight, bias));
    ExpectParity(AroundOp(name + "_of_one_pixel", {5, 1, 1}, op, weight, bias));
  };
  each("leaky", Relu{0.2});
  each("square", Power{2, 0.5, 1});
  each("linear", Power{1, -2, 0.5});
  each("cube", Power{3, 0.5, 0.1});
  each("constant", Power{0, 1, 0});
  each("softmax", Softmax{});
  each("scale", Scale{}, scale, kBias);
  each("scale_without_bias", Scale{false}, scale);
  each("slice", Slice{1, 4});
  ExpectParity(AroundOp("lrn-within", {5, 4, 3}, Lrn{3, 0.9, 0.75, 1, LrnRegion::kWithinChannel}));
  ExpectParity(AroundOp("batch-norm-alone", {5, 4, 3}, BatchNorm{1e-3, 0.3, false}));
  ExpectParity(AroundOp("reshape", {5, 4, 3}, Reshape{{2, 5, 6}}));
  ExpectParity(AroundOp("reshape_to_rows", {5, 4, 3}, Reshape{{10, 6}}));
  Graph ignoring = AroundOp("ignoring", {5, 4, 3}, Relu{});
  std::get<SoftmaxCrossEntropy>(ignoring.layers.back().op).ignore_label = 1;
  ExpectParity(ignoring, 7);
}

TEST(ParityTest, ElementwiseOpsOfSeveralInputsAgreeAlsoOnFlattenedImages) {
  for (const Op& op : {Op(Add{{0.5, -2, 1}}), Op(Multiply{}), Op(Maximum{})}) {
    GraphBuilder b(std::string(OpName(op)));
    b.Append("data", Input{InputRole::kData, {2, 4, 3}, kValues}, {});
    b.Append("target", Input{InputRole::kData, {9}, {FillKind::kUniform, 0, 1}}, {});
    b.Append("left", Convolution{2, {3, 3}, {1, 1}, {1, 1}}, {"data"}, kXavier, kBias);
    b.Append("right", Convolution{2, {1, 1}}, {"left"}, kXavier, kBias);
    b.Append("bend", Tanh{}, {"left"});
    b.Append("images", op, {"left", "right", "bend"});
    b.Append("flat", Flatten{}, {"images"});
    b.Append("left_flat", Flatten{}, {"left"});
    b.Append("dense", FullyConnected{24}, {"flat"}, kXavier, kBias);
    b.Append("vectors", op, {"flat", "left_flat", "dense"});
    b.Append("folded", Reshape{{4, 3, 2}}, {"vectors"});
    b.Append("unfolded", Flatten{}, {"folded"});
    b.Append("part", Slice{2, 11}, {"unfolded"});
    b.Append("soft", Softmax{}, {"part"});
    b.Append("loss", MeanSquaredError{10}, {"soft", "target"});
    ExpectParity(b.Take());
  }
}

TEST(ParityTest, EverySolverAgrees) {
  Graph graph =
      AroundOp("solver", {5, 4, 3}, BatchNorm{1e-3, 0.3}, {{FillKind::kUniform, 0.5, 1.5}}, kBias);
  graph.layers[2].weight.lr_mult = 0;
  Solver nesterov, adam, clipped;
  nesterov.type = SolverType::kNesterov;
  adam.type = SolverType::kAdam;
  adam.delta = 1e-2;
  clipped.clip_gradients = 0.1;
  for (const Solver& solver : {nesterov, adam, clipped}) ExpectParity(graph, 4, solver);
}

TEST(ParityTest, BranchesOfFlattenedImagesAgree) {
  GraphBuilder b("branches");
  b.Append("data", Input{InputRole::kData, {2, 4, 3}, kValues}, {});
  b.Append("target", Input{InputRole::kData, {48}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("left", Convolution{2, {3, 3}, {1, 1}, {1, 1}}, {"data"}, kXavier, kBias);
  b.Append("left_flat", Flatten{}, {"left"});
  b.Append("bend", Tanh{}, {"left_flat"});
  b.Append("data_flat", Flatten{}, {"data"});
  b.Append("right", FullyConnected{24}, {"data_flat"}, kXavier, kBias);
  b.Append("norm", BatchNorm{}, {"bend"}, {{FillKind::kUniform, 0.5, 1.5}}, kBias);
  b.Append("sum", Add{}, {"bend", "right", "norm"});
  b.Append("both", Concat{}, {"sum", "left_flat"});
  b.Append("cross", SigmoidCrossEntropy{0.5}, {"both", "target"});
  b.Append("squash", Sigmoid{}, {"both"});
  b.Append("square", MeanSquaredError{2}, {"squash", "target"});
  ExpectParity(b.Take());
}

TEST(ParityTest, SequencesAgree) {
  GraphBuilder b("sequence");
  b.Append("tokens", Input{InputRole::kTokens, {6}, {FillKind::kInteger, 0, 9}}, {});
  b.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 7}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 2}}, {});
  b.Append("words", Embedding{9, 5}, {"tokens"}, {kValues});
  b.Append("first", Lstm{4}, {"words"}, kXavier, kBias);
  b.Append("second", Lstm{3}, {"first"}, kXavier, kBias);
  b.Append("mean", MeanOverTime{}, {"second", "lengths"});
  b.Append("scores", FullyConnected{2}, {"mean"}, kXavier, kBias);
  b.Append("loss", SoftmaxCrossEntropy{}, {"scores", "label"});
  ExpectParity(b.Take());
}

}  // namespace
}  // namespace tench::tensorflow
