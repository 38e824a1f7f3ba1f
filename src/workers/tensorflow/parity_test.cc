// SPDX-License-Identifier: Apache-2.0
// TensorFlow against the reference worker: every op, and the layouts and update rules that its
// lowering distinguishes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"
#include "worker/op_parity.h"
#include "workers/reference/adapter.h"
#include "workers/tensorflow/adapter.h"

namespace tench::tensorflow::parity_test {
namespace {

using testing::IsEmpty;

constexpr ParityBounds kBounds{1e-5, 1e-7}, kStateBounds{2e-5, 1e-7};
const ParameterRule kXavier{{FillKind::kXavier, 0, 0}};
const ParameterRule kBias{{FillKind::kUniform, -0.5, 0.5}, 2, 0};
const Fill kValues{FillKind::kUniform, -1.7, 1.7};

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
      auto expected = RunGraph(*reference, graph, batch, options, steps);
      auto got = RunGraph(*worker, graph, batch, options, steps);
      ASSERT_TRUE(expected.ok()) << expected.error().message;
      ASSERT_TRUE(got.ok()) << got.error().message;
      AdapterRun expected_state, got_state;
      expected_state.state.swap(expected->state);
      got_state.state.swap(got->state);
      EXPECT_THAT(Differences(*expected, *got, kBounds), IsEmpty());
      EXPECT_THAT(Differences(expected_state, got_state, kStateBounds), IsEmpty());
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
  stem.bias = false;  // its gradient before a batch norm would be rounding error
  b.Append("stem", stem, {"data"}, kXavier);
  b.Append("op", op, {"stem"}, weight, bias);
  b.Append("flat", Flatten{}, {"op"});
  b.Append("scores", FullyConnected{3}, {"flat"}, kXavier, kBias);
  b.Append("loss", SoftmaxCrossEntropy{0.7}, {"scores", "label"});
  return b.Take();
}

TEST(ParityTest, EveryOpAgrees) {
  const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(),
                                 worker = MakeTensorFlowAdapter();
  for (const OpCase& each : OpCases())
    EXPECT_THAT(CompareOpCase(*reference, *worker, each), IsEmpty());
}

// TensorFlow computes in NHWC: these ops get an image in another logical order.
TEST(ParityTest, OpsBeforeAFlattenedImageAgree) {
  ExpectParity(AroundOp("softmax", {5, 4, 3}, Softmax{}));
  ExpectParity(AroundOp("slice", {5, 4, 3}, Slice{1, 4}));
  ExpectParity(AroundOp("reshape", {5, 4, 3}, Reshape{{2, 5, 6}}));
  ExpectParity(AroundOp("reshape-to-rows", {5, 4, 3}, Reshape{{10, 6}}));
  ExpectParity(AroundOp("scale", {5, 4, 3}, Scale{}, {{FillKind::kUniform, 0.5, 1.5}}, kBias));
  ExpectParity(AroundOp("avg", {3, 8, 9}, Pooling{PoolMode::kAvg, {3, 3}, {2, 2}, {1, 1}, true}));
  ExpectParity(AroundOp("groups", {4, 7, 7},
                        Convolution{6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, false}, kXavier));
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

}  // namespace
}  // namespace tench::tensorflow::parity_test
