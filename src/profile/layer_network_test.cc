// SPDX-License-Identifier: Apache-2.0
#include "profile/layer_network.h"

#include <gtest/gtest.h>

#include "net/zoo/zoo.h"
#include "profile/problem.h"
#include "profile/test_profile.h"

namespace tench::layer_network_test {
namespace {

size_t Place(const TypedGraph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (graph.layers[i].layer.name == name) return i;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(LayerNetworkTest, TheLayerSolvesTheSameProblem) {
  const TypedGraph graph = ProfiledNetwork();
  for (const char* layer : {"conv1", "conv2", "fc"}) {
    const Graph alone = *LayerNetwork(graph, layer);
    const TypedGraph typed = *Infer(alone, graph.batch);
    EXPECT_EQ(ProblemText(typed, Place(typed, layer)), ProblemText(graph, Place(graph, layer)));
  }
}

TEST(LayerNetworkTest, ADataGradientIsNeededWhereItWasNeeded) {
  const TypedGraph graph = ProfiledNetwork();
  const TypedGraph first = *Infer(*LayerNetwork(graph, "conv1"), 2);
  EXPECT_FALSE(NeedsGradient(first)[first.layers[Place(first, "conv1")].inputs[0]]);
  const TypedGraph second = *Infer(*LayerNetwork(graph, "conv2"), 2);
  EXPECT_TRUE(NeedsGradient(second)[second.layers[Place(second, "conv2")].inputs[0]]);
}

TEST(LayerNetworkTest, EveryLayerOfTheZooStandsAlone) {
  const InputSpec imagenet{"imagenet", 3, 227, 227, 0, 0, 1000};
  const TypedGraph graph = *Infer(*(*FindNetwork("googlenet"))->build(imagenet), 1);
  for (const TypedLayer& layer : graph.layers) {
    if (std::holds_alternative<Input>(layer.layer.op)) continue;
    const auto alone = LayerNetwork(graph, layer.layer.name);
    ASSERT_TRUE(alone.ok()) << alone.error().message;
    EXPECT_TRUE(Infer(*alone, 1).ok()) << layer.layer.name;
  }
}

TEST(LayerNetworkTest, AnUnknownLayerIsAnErrorWithAHint) {
  const auto alone = LayerNetwork(ProfiledNetwork(), "conv3");
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().message, "pond has no layer 'conv3'; did you mean 'conv1'?");
  EXPECT_FALSE(LayerNetwork(ProfiledNetwork(), "data").ok()) << "an input is no op";
}

}  // namespace
}  // namespace tench::layer_network_test
