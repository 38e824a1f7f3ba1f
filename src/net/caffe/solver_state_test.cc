// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/solver_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "net/builder.h"

namespace tench::solver_state_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

TypedGraph Network() {
  GraphBuilder b("n");
  b.Append("data", Input{InputRole::kData, {2, 4, 4}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("bn", BatchNorm{}, {"data"});
  b.Append("flat", Flatten{}, {"bn"});
  b.Append("fc", FullyConnected{3}, {"flat"});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return *Infer(b.Take(), 1);
}

class SolverStateTest : public testing::Test {
 protected:
  Status Write(SolverType type) {
    return WriteSolverState(path_, {7, "x_iter_7.caffemodel", 2, {}}, graph_, names_, type,
                            [&](const std::string& name, std::span<float> out) -> Status {
                              float next = static_cast<float>(++asked_[name]);
                              for (float& value : out) value = next += 0.25f;
                              return Ok();
                            });
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-state-");
  std::filesystem::path path_ = folder_.path() / "x.solverstate";
  TypedGraph graph_ = Network();
  CaffeNames names_ = DefaultCaffeNames([] {
    Graph graph;
    for (const TypedLayer& layer : Network().layers) graph.layers.push_back(layer.layer);
    return graph;
  }());
  std::map<std::string, int> asked_;
};

TEST_F(SolverStateTest, HasTheHistoryOfEveryLearnableBlobInCaffesOrder) {
  ASSERT_TRUE(Write(SolverType::kSgd).ok());
  const Result<CaffeSolverState> state = ReadSolverState(path_);
  ASSERT_TRUE(state.ok()) << ErrorOf(state);
  EXPECT_EQ(state->iteration, 7);
  EXPECT_EQ(state->learned_net, "x_iter_7.caffemodel");
  EXPECT_EQ(state->current_step, 2);
  std::vector<Shape> shapes;
  for (const CaffeSolverState::Blob& blob : state->history) shapes.push_back(blob.shape);
  // Mean, variance and factor of BatchNorm, then Scale, then fc.
  EXPECT_THAT(shapes, ElementsAre(Shape{2}, Shape{2}, Shape{1}, Shape{2}, Shape{2}, Shape{3, 32},
                                  Shape{3}));
  EXPECT_THAT(state->history[0].values, ElementsAre(0, 0));
  EXPECT_THAT(state->history[3].values, ElementsAre(1.25f, 1.5f));
}

TEST_F(SolverStateTest, ComesBackByTheNamesOfTheParameters) {
  ASSERT_TRUE(Write(SolverType::kAdam).ok());
  const Result<CaffeSolverState> state = ReadSolverState(path_);
  ASSERT_TRUE(state.ok()) << ErrorOf(state);
  EXPECT_EQ(state->history.size(), 14u);
  std::map<std::string, std::vector<float>> read;
  const Status loaded =
      LoadHistory(*state, graph_, names_, SolverType::kAdam,
                  [&](const std::string& name, std::span<const float> values) -> Status {
                    read[name].assign(values.begin(), values.end());
                    return Ok();
                  });
  ASSERT_TRUE(loaded.ok()) << ErrorOf(loaded);
  EXPECT_EQ(read.size(), 8u);
  EXPECT_THAT(read.at("fc.bias.momentum2"), ElementsAre(1.25f, 1.5f, 1.75f));
  const auto ignore = [](const std::string&, std::span<const float>) { return Ok(); };
  EXPECT_THAT(ErrorOf(LoadHistory(*state, graph_, names_, SolverType::kSgd, ignore)),
              HasSubstr("the history has 14 blobs, but the solver sgd has 7"));
}

TEST_F(SolverStateTest, EveryTruncationIsAnErrorOrAShorterState) {
  ASSERT_TRUE(Write(SolverType::kSgd).ok());
  const std::string bytes = *ReadFile(path_);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<CaffeSolverState> state =
        ParseSolverState(std::string_view(bytes).substr(0, size));
    if (state.ok()) {
      EXPECT_LE(state->history.size(), 7u);
    }
  }
  EXPECT_THAT(ErrorOf(ParseSolverState("no protobuf")), HasSubstr("not a .solverstate"));
}

}  // namespace
}  // namespace tench::solver_state_test
