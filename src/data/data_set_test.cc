// SPDX-License-Identifier: Apache-2.0
#include "data/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "data/test_data_files.h"
#include "net/graph_json.h"

namespace tench::data_set_test {
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
  const auto read = [](const std::string& file, const Shape& sample) -> Result<Graph> {
    return Failed("read {} for {}", file, ToString(sample));
  };
  const NetworkReaders readers = {{".prototxt", read}};
  EXPECT_EQ(ErrorOf(LoadNetwork("a.prototxt", "", 0, readers)),
            "read a.prototxt for " + ToString(Shape()));
  EXPECT_EQ(ErrorOf(LoadNetwork("a.prototxt", "mnist", 0, readers)), "read a.prototxt for 1x28x28");
  EXPECT_EQ(*ResolveData("a.prototxt", "mnist"), "mnist") << "its shape may be open";
  EXPECT_EQ(*LoadNetwork(path, "", 0, readers), lenet);
  EXPECT_THAT(ErrorOf(LoadNetwork("./absent", "", 0)), HasSubstr("./absent"));
  EXPECT_THAT(ErrorOf(LoadNetwork(folder->path().string(), "", 0)),
              HasSubstr(folder->path().string()));
}

class RealDataSetTest : public testing::Test {
 protected:
  RealDataSetTest() { WriteIdx(root / "digits", 6, 28, 4); }
  TemporaryFolder folder = *TemporaryFolder::Make("data-set-test");
  std::filesystem::path root = folder.path();
  std::string digits = "mnist:" + (root / "digits").string();
};

TEST_F(RealDataSetTest, TheFilesDecideTheClassesOfANetwork) {
  const Result<Graph> graph = LoadNetwork("lenet", digits, 0);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const TypedGraph typed = *Infer(*graph, 2);
  EXPECT_EQ(typed.InputType(typed.layers.size() - 1, 0).shape, (Shape{2, 4}));
  EXPECT_EQ(*LoadNetwork("lenet", digits + ",classes=10", 0), *LoadNetwork("lenet", "mnist", 0));
  EXPECT_EQ(*ImagesOf(digits), 6);
  EXPECT_EQ(*ImagesOf("mnist"), 60'000);
}

TEST_F(RealDataSetTest, ResolvingAddsTheFingerprintAndChecksIt) {
  const std::string resolved = *ResolveData("lenet", digits);
  EXPECT_TRUE(resolved.starts_with(digits + ",fingerprint="));
  EXPECT_EQ(*ResolveData("lenet", resolved), resolved);
  WriteIdx(root / "digits", 6, 28, 3);
  EXPECT_THAT(ErrorOf(ResolveData("lenet", resolved)), HasSubstr("its files have changed"));
}

TEST_F(RealDataSetTest, AnotherKindOfNetworkIsUnsupportedAndBrokenDataFails) {
  const Result<Graph> words = LoadNetwork("lstm", digits, 0);
  ASSERT_FALSE(words.ok());
  EXPECT_EQ(words.error().kind, ErrorKind::kUnsupported);
  const Graph lenet = *LoadNetwork("lenet", "", 0);
  EXPECT_TRUE(CheckData(lenet, digits).ok());
  EXPECT_EQ(CheckData(*LoadNetwork("lstm", "", 0), digits).error().kind, ErrorKind::kUnsupported);
  WriteBytes(root / "batch.bin", "\x0a" + Ramp(0, 3072));
  const Status label =
      CheckData(*LoadNetwork("lenet", "cifar10", 0), "cifar10:" + (root / "batch.bin").string());
  ASSERT_FALSE(label.ok());
  EXPECT_EQ(label.error().kind, ErrorKind::kFailed);
  EXPECT_THAT(label.error().message, HasSubstr("the label 10 is not from 0 to 9"));
}

TEST_F(RealDataSetTest, ANetworkFileReadsRealData) {
  const std::string path = root / "mine.json";
  ASSERT_TRUE(WriteFileAtomically(path, GraphToJson(*LoadNetwork("lenet", "", 0)).dump(1)).ok());
  EXPECT_TRUE(LoadNetwork(path, digits, 0).ok());
  EXPECT_THAT(*ResolveData(path, digits), HasSubstr("fingerprint="));
}

}  // namespace
}  // namespace tench::data_set_test
