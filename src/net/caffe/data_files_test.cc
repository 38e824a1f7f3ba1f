// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::data_files_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

constexpr const char* kNet = R"(
layer { name: "d" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { scale: 0.00390625 mirror: true crop_size: 27 mean_value: 104 mean_value: 117 mean_value: 123.5 }
  data_param { source: "train_lmdb" batch_size: 64 backend: LMDB } }
layer { name: "t" type: "ImageData" top: "data" top: "label" include { phase: TEST }
  transform_param { mean_file: "mean.binaryproto" crop_size: 27 }
  image_data_param { source: "test.txt" batch_size: 10 new_height: 32 new_width: 48 shuffle: true } }
)";

TEST(DataFilesTest, TheDataLayerOfThePhaseIsADataText) {
  const auto train = FindDataFiles(kNet, "n", {});
  ASSERT_TRUE(train.ok() && *train) << ErrorOf(train);
  EXPECT_EQ((*train)->format, "lmdb");
  EXPECT_EQ((*train)->source, "train_lmdb");
  EXPECT_THAT((*train)->keys, ElementsAre("shuffle=no", "bgr=yes", "crop=27", "mirror=yes",
                                          "scale=0.00390625", "mean=104/117/123.5"));
  const auto test = FindDataFiles(kNet, "n", CaffeState{0, {}, true});
  ASSERT_TRUE(test.ok() && *test) << ErrorOf(test);
  EXPECT_EQ((*test)->format, "folder");
  EXPECT_EQ((*test)->mean_file, "mean.binaryproto");
  EXPECT_THAT((*test)->keys, ElementsAre("shuffle=yes", "bgr=yes", "resize=32x48", "crop=27"));
}

TEST(DataFilesTest, OlderFieldsOfV1LayersCount) {
  const auto files = FindDataFiles(
      R"(layers { name: "d" type: DATA top: "data" data_param { source: "x" backend: LMDB batch_size: 1 crop_size: 9 scale: 0.5 mean_file: "m" } })",
      "n", {});
  ASSERT_TRUE(files.ok() && *files) << ErrorOf(files);
  EXPECT_THAT((*files)->keys, ElementsAre("shuffle=no", "bgr=yes", "crop=9", "scale=0.5"));
  EXPECT_EQ((*files)->mean_file, "m");
}

TEST(DataFilesTest, WhatIsNotReadIsNamedWithItsLayer) {
  const auto none = FindDataFiles(R"(layer { name: "d" type: "DummyData" top: "data" })", "n", {});
  EXPECT_TRUE(none.ok() && !*none);
  EXPECT_THAT(ErrorOf(FindDataFiles(
                  "\nlayer { name: \"d\" type: \"Data\" top: \"x\" data_param { source: \"l\" } }",
                  "n", {})),
              HasSubstr("n:2: layer 'd': it reads a LevelDB"));
  EXPECT_THAT(
      ErrorOf(FindDataFiles(
          R"(layer { name: "d" type: "HDF5Data" top: "x" hdf5_data_param { batch_size: 2 } })", "n",
          {})),
      HasSubstr("layer 'd': it has no source"));
}

}  // namespace
}  // namespace tench::data_files_test
