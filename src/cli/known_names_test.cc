// SPDX-License-Identifier: Apache-2.0
#include "cli/known_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/file.h"

namespace tench::known_names_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kShare = ExecutableFolder().parent_path() / "share" / "tench";

TEST(KnownNamesTest, HoldsWorkersNetworksAndDataSets) {
  const TemporaryFolder folder = *TemporaryFolder::Make("cli-test");
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "tench-worker-pond.json", "{}").ok());
  const Catalog names = KnownNames(WorkerCatalog::Discover({folder.path()}));
  EXPECT_THAT(names.workers, ElementsAre("pond"));
  EXPECT_THAT(names.networks, Contains("lenet"));
  EXPECT_THAT(names.data_sets, Contains("mnist"));
  EXPECT_EQ(*names.resolve_data("lenet", ""), "mnist");
}

TEST(KnownNamesTest, ChecksANetworksFileByReadingIt) {
  const TemporaryFolder folder = *TemporaryFolder::Make("cli-test");
  const std::string path = folder.path() / "bad.prototxt";
  ASSERT_TRUE(WriteFileAtomically(path, "layer { nonsense: 1 }").ok());
  const Catalog names = KnownNames(WorkerCatalog::Discover({folder.path()}));
  EXPECT_THAT(names.check_file(path).error().message, HasSubstr("bad.prototxt"));
}

TEST(FileReadersTest, ReadAPrototxt) {
  const NetworkReaders readers = FileReaders();
  ASSERT_TRUE(readers.contains(".prototxt"));
  const Result<Graph> graph = readers.at(".prototxt")(
      TENCH_SOURCE_DIR "/src/net/caffe/testdata/alexnet_train_val.prototxt", {});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->name, "alexnet");
}

// As Caffe's examples are: the shape is only in the database.
TEST(FileReadersTest, APrototxtWithoutAShapeTakesItFromTheDataOrFromAFlag) {
  const TemporaryFolder folder = *TemporaryFolder::Make("cli-test");
  const std::string path = folder.path() / "digits.prototxt";
  ASSERT_TRUE(WriteFileAtomically(path, R"(
      layer { name: "mnist" type: "Data" top: "data" top: "label"
              data_param { source: "mnist_train_lmdb" batch_size: 64 backend: LMDB } }
      layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
              inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
      layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" })")
                  .ok());
  const Graph digits = *LoadNetwork(path, "mnist", 0, FileReaders());
  EXPECT_EQ(Infer(digits, 1)->parameters.at(0).shape, (Shape{10, 784}));
  EXPECT_EQ(*LoadNetwork(path, "", 0, FileReaders({}, {1, 28, 28})), digits);
  EXPECT_THAT(LoadNetwork(path, "", 0, FileReaders()).error().message,
              HasSubstr("name the data (--data mnist), give --shape 1x28x28, or add a comment"));
  EXPECT_EQ(Infer(*LoadNetwork(path, "cifar10", 0, FileReaders()), 1)->parameters.at(0).shape,
            (Shape{10, 3072}));
  const Catalog names = KnownNames(WorkerCatalog::Discover({folder.path()}));
  EXPECT_TRUE(names.check_file(path).ok());
  EXPECT_EQ(*names.resolve_data(path, "mnist"), "mnist");
  EXPECT_THAT(names.resolve_data(path, "").error().message, HasSubstr("--data mnist"));
}

TEST(SuiteFoldersTest, TheEnvironmentComesFirstThenTheWorkingFolderThenTheInstallation) {
  setenv("TENCH_SUITE_PATH", "/a:/b", 1);
  EXPECT_THAT(SuiteFolders(), ElementsAre("/a", "/b", "suites", kShare / "suites"));
  unsetenv("TENCH_SUITE_PATH");
  EXPECT_THAT(SuiteFolders(), ElementsAre("suites", kShare / "suites"));
}

TEST(SketchFoldersTest, TheEnvironmentComesFirstThenTheInstallation) {
  setenv("TENCH_SKETCH_PATH", "/a", 1);
  EXPECT_THAT(SketchFolders(), ElementsAre("/a", kShare / "sketches"));
  unsetenv("TENCH_SKETCH_PATH");
  EXPECT_THAT(SketchFolders(), ElementsAre(kShare / "sketches"));
}

}  // namespace
}  // namespace tench::known_names_test
