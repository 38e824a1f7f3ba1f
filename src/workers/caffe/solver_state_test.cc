// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/solver_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/file.h"
#include "net/builder.h"

namespace tench::caffe_worker::solver_state_test {
namespace {

TypedGraph Normed() {
  GraphBuilder b("normed");
  b.Append("data", Input{InputRole::kData, {3}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("fc", FullyConnected{2}, {"data"});
  b.Append("bn", BatchNorm{}, {"fc"});
  b.Append("target", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("loss", MeanSquaredError{}, {"bn", "target"});
  return *Infer(b.Take(), 2);
}

TEST(SolverStateTest, GivesBackTheMomentaOfWhatIsTrained) {
  const TemporaryFolder folder = *TemporaryFolder::Make("state-test");
  const TypedGraph graph = Normed();
  const NetText net = *WriteNet(graph, "l", {});
  const auto path = folder.path() / "a.solverstate";
  ASSERT_TRUE(WriteSolverState(path, "w.caffemodel", graph, net.slots,
                               [](const Parameter& parameter, std::span<float> out) -> Status {
                                 std::iota(out.begin(), out.end(),
                                           static_cast<float>(parameter.name.size()));
                                 return Ok();
                               })
                  .ok());
  std::map<std::string, std::vector<float>> read;
  ASSERT_TRUE(
      ReadSolverState(path, graph, net.slots,
                      [&](const Parameter& parameter, std::span<const float> values) -> Status {
                        read[parameter.name].assign(values.begin(), values.end());
                        return Ok();
                      })
          .ok());
  EXPECT_EQ(read.size(), 4u);  // no statistics, no factor
  EXPECT_THAT(read.at("fc.weight"), testing::ElementsAre(9, 10, 11, 12, 13, 14));
  EXPECT_THAT(read.at("bn.bias"), testing::ElementsAre(7, 8));
}

TEST(SolverStateTest, RefusesTheStateOfAnotherNetwork) {
  const TemporaryFolder folder = *TemporaryFolder::Make("state-test");
  const TypedGraph graph = Normed();
  NetText net = *WriteNet(graph, "l", {});
  const auto path = folder.path() / "a.solverstate";
  const SlotSource zeros = [](const Parameter&, std::span<float>) { return Ok(); };
  const SlotSink nothing = [](const Parameter&, std::span<const float>) { return Ok(); };
  ASSERT_TRUE(WriteSolverState(path, "w", graph, net.slots, zeros).ok());
  net.slots.pop_back();
  EXPECT_THAT(ReadSolverState(path, graph, net.slots, nothing).error().message,
              testing::HasSubstr("7 blobs where the network has 6"));
  ASSERT_TRUE(WriteFileAtomically(path, "garbage").ok());
  EXPECT_FALSE(ReadSolverState(path, graph, net.slots, nothing).ok());
  EXPECT_FALSE(ReadSolverState(folder.path() / "none", graph, net.slots, nothing).ok());
}

}  // namespace
}  // namespace tench::caffe_worker::solver_state_test
