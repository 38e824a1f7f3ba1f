// SPDX-License-Identifier: Apache-2.0
// The zoo as prototxts. Some are pinned (prototxts/NETWORK-DATA.prototxt), because real Caffe has
// accepted them. Every network that Caffe can express survives a round trip.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/data_set.h"
#include "golden.h"
#include "net/caffe/prototxt.h"
#include "net/caffe/prototxt_writer.h"
#include "net/graph_json.h"
#include "net/zoo/zoo.h"

namespace tench::prototxt_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

TEST(PrototxtGoldenTest, TheWrittenFormIsPinned) {
  for (const auto& [network, data] : {std::pair("lenet", "mnist"), std::pair("resnet18", "cifar10"),
                                      std::pair("autoencoder", "mnist")}) {
    const Result<std::string> text =
        WriteTrainPrototxt(*LoadNetwork(network, data, 0), {CaffeData::Kind::kDummy, "", 64});
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_TRUE(MatchesGolden(fmt::format("prototxts/{}-{}.prototxt", network, data), *text));
  }
}

TEST(PrototxtGoldenTest, EveryNetworkOfTheZooThatCaffeCanExpressComesBackTheSame) {
  size_t written = 0;
  for (const ZooEntry& entry : Zoo()) {
    for (const std::string& data : entry.data) {
      const Graph graph = *LoadNetwork(entry.name, data, 0);
      for (const CaffeData::Kind kind :
           {CaffeData::Kind::kDummy, CaffeData::Kind::kHdf5, CaffeData::Kind::kInput}) {
        const Result<std::string> text = WriteTrainPrototxt(graph, {kind, "list.txt", 2});
        if (entry.name == "lstm") {
          EXPECT_THAT(ErrorOf(text), HasSubstr("lstm: layer 'tokens': Caffe has no layer"));
          continue;
        }
        ASSERT_TRUE(text.ok()) << ErrorOf(text);
        const Result<CaffeNetwork> network = ReadPrototxt(*text, "x.prototxt");
        ASSERT_TRUE(network.ok()) << entry.name << ": " << ErrorOf(network);
        EXPECT_EQ(PrintJson(GraphToJson(network->graph), 1), PrintJson(GraphToJson(graph), 1));
        EXPECT_EQ(Fingerprint(network->graph), Fingerprint(graph)) << entry.name << " on " << data;
        EXPECT_EQ(network->batch, 2);
        EXPECT_THAT(network->notes, IsEmpty());
        ++written;
      }
    }
  }
  EXPECT_GT(written, 30u);
}

// A typical user's file: two phases, a database, in-place layers, no flatten. Except for the
// flatten's name it equals the zoo's network.
TEST(PrototxtGoldenTest, AUsersAlexnetIsTheZoos) {
  Result<CaffeNetwork> network =
      ReadPrototxtFile(TENCH_SOURCE_DIR "/src/net/caffe/testdata/alexnet_train_val.prototxt");
  ASSERT_TRUE(network.ok()) << ErrorOf(network);
  EXPECT_EQ(network->batch, 16);
  EXPECT_THAT(network->notes, IsEmpty());
  for (Layer& layer : network->graph.layers) {
    if (layer.name == "fc6_flatten") layer.name = "flatten";
    for (std::string& input : layer.inputs) {
      if (input == "fc6_flatten") input = "flatten";
    }
  }
  const Graph zoo = *LoadNetwork("alexnet", "imagenet", 0);
  EXPECT_EQ(PrintJson(GraphToJson(network->graph), 1), PrintJson(GraphToJson(zoo), 1));
}

}  // namespace
}  // namespace tench::prototxt_test
