// SPDX-License-Identifier: Apache-2.0
#include "data/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "net/graph_json.h"

namespace tench {
namespace {

using testing::HasSubstr;

template <class T>
std::string ErrorOf(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().message;
}

TEST(DataSetTest, HasThePublishedSizes) {
  const DataSet* mnist = *FindDataSet("mnist");
  EXPECT_EQ(mnist->spec.channels, 1);
  EXPECT_EQ(mnist->spec.height, 28);
  EXPECT_EQ(mnist->spec.classes, 10);
  EXPECT_EQ(mnist->images, 60'000);
  EXPECT_EQ((*FindDataSet("cifar10"))->images, 50'000);
  EXPECT_EQ((*FindDataSet("cifar10"))->spec.width, 32);
  EXPECT_EQ((*FindDataSet("imagenet"))->images, 1'281'167);
  EXPECT_EQ((*FindDataSet("imagenet"))->spec.classes, 1000);
  const DataSet* imdb = *FindDataSet("imdb");
  EXPECT_TRUE(imdb->spec.sequences());
  EXPECT_EQ(imdb->spec.vocabulary, 20'000);
  EXPECT_EQ(imdb->spec.length, 100);
  EXPECT_EQ(imdb->spec.classes, 2);
}

TEST(DataSetTest, EverySetNamesItsSpec) {
  for (const DataSet& set : DataSets()) EXPECT_EQ(set.spec.data, set.name);
}

TEST(DataSetTest, AnUnknownNameGetsAHint) {
  EXPECT_EQ(ErrorOf(FindDataSet("cifar-10")),
            "unknown data set 'cifar-10'; did you mean 'cifar10'?");
}

TEST(LoadNetworkTest, EveryNetworkOfTheZooLoadsOnAllItsData) {
  for (const ZooEntry& entry : Zoo()) {
    EXPECT_EQ(*ResolveData(entry.name, ""), entry.default_data);
    for (const std::string& data : entry.data) {
      const Result<Graph> graph = LoadNetwork(entry.name, data, 0);
      ASSERT_TRUE(graph.ok()) << graph.error().message;
      const Result<TypedGraph> typed = Infer(*graph, 2);
      EXPECT_TRUE(typed.ok()) << typed.error().message;
      EXPECT_TRUE(Infer(InferenceGraph(*graph), 2).ok());
      EXPECT_EQ(*GraphFromJson(GraphToJson(*graph)), *graph) << entry.name;
    }
  }
}

TEST(LoadNetworkTest, TheDataSetDecidesTheClasses) {
  const Result<Graph> graph = LoadNetwork("resnet18", "cifar10", 0);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const Result<TypedGraph> typed = Infer(*graph, 3);
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(typed->InputType(typed->layers.size() - 1, 0).shape, (Shape{3, 10}));
}

TEST(LoadNetworkTest, TheLengthIsForSequencesOnly) {
  const Result<Graph> graph = LoadNetwork("lstm", "", 37);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  for (const Layer& layer : graph->layers) {
    const Input* input = std::get_if<Input>(&layer.op);
    if (input == nullptr || input->role != InputRole::kTokens) continue;
    EXPECT_EQ(input->shape, Shape{37});
  }
  EXPECT_THAT(ErrorOf(LoadNetwork("lenet", "", 37)),
              HasSubstr("'lenet' on 'mnist' has images, not sequences"));
  EXPECT_THAT(ErrorOf(LoadNetwork("lstm", "", -1)), HasSubstr("the sequence length is -1"));
}

TEST(LoadNetworkTest, MistakesAreNamed) {
  EXPECT_THAT(ErrorOf(LoadNetwork("lenett", "", 0)), HasSubstr("'lenet'"));
  EXPECT_THAT(ErrorOf(LoadNetwork("lenet", "mnits", 0)),
              HasSubstr("unknown data set 'mnits'; did you mean 'mnist'?"));
  EXPECT_THAT(ErrorOf(LoadNetwork("lenet", "imdb", 0)), HasSubstr("mnist"));
  EXPECT_THAT(ErrorOf(ResolveData("lenet", "mnits")), HasSubstr("did you mean 'mnist'?"));
}

TEST(LoadNetworkTest, APathIsAFile) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Make("tench-data-test");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() / "mine.json";
  const Graph lenet = *LoadNetwork("lenet", "", 0);
  ASSERT_TRUE(WriteFileAtomically(path, GraphToJson(lenet).dump(1)).ok());
  const Result<Graph> loaded = LoadNetwork(path, "", 0);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(*loaded, lenet);
  EXPECT_EQ(*ResolveData(path, ""), "");
  EXPECT_THAT(ErrorOf(LoadNetwork(path, "mnist", 0)), HasSubstr("remove the data set 'mnist'"));
  EXPECT_THAT(ErrorOf(ResolveData(path, "mnist")), HasSubstr("remove the data set"));
  EXPECT_THAT(ErrorOf(LoadNetwork(path, "", 5)), HasSubstr("remove the sequence length"));
  EXPECT_THAT(ErrorOf(LoadNetwork("absent.json", "", 0)), HasSubstr("absent.json"));
  const NetworkReaders readers = {{".prototxt", [](const std::string& file) -> Result<Graph> {
                                     return Failed("read {}", file);
                                   }}};
  EXPECT_EQ(ErrorOf(LoadNetwork("a.prototxt", "", 0, readers)), "read a.prototxt");
  EXPECT_EQ(*LoadNetwork(path, "", 0, readers), lenet);
  EXPECT_THAT(ErrorOf(LoadNetwork("./absent", "", 0)), HasSubstr("./absent"));
  EXPECT_THAT(ErrorOf(LoadNetwork(folder->path().string(), "", 0)),
              HasSubstr(folder->path().string()));
}

}  // namespace
}  // namespace tench
