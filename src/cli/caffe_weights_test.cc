// SPDX-License-Identifier: Apache-2.0
#include "cli/caffe_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/file.h"
#include "data/data_set.h"
#include "net/caffe/caffemodel.h"

namespace tench::caffe_weights_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CaffeWeightsTest : public testing::Test {
 protected:
  // A .caffemodel of `graph` whose blobs count up from the length of their name.
  std::string Write(const Graph& graph) {
    const std::string path = folder_.path() / (graph.name + ".caffemodel");
    const Status written = WriteCaffemodel(
        path, *Infer(graph, 1), DefaultCaffeNames(graph),
        [](const Parameter& parameter, std::span<float> out) -> Status {
          std::iota(out.begin(), out.end(), static_cast<float>(parameter.name.size()));
          return Ok();
        });
    EXPECT_TRUE(written.ok());
    return path;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("cli-test");
  Graph lenet_ = *LoadNetwork("lenet", "", 0, {});
};

TEST_F(CaffeWeightsTest, EveryParameterIsARawFileWithItsNumbers) {
  const Result<WeightFiles> files =
      UnpackWeights(Write(lenet_), lenet_, DefaultCaffeNames(lenet_), folder_.path());
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT(files->notes, IsEmpty());
  const TypedGraph typed = *Infer(lenet_, 1);
  ASSERT_EQ(files->load.size(), typed.parameters.size());
  for (const auto& [name, path] : files->load) {
    std::vector<float> values(std::filesystem::file_size(path) / sizeof(float));
    ASSERT_TRUE(ReadRaw(path, values).ok());
    ASSERT_GE(values.size(), 2u);
    EXPECT_EQ(values[0], static_cast<float>(name.size())) << name;
    EXPECT_EQ(values[1], static_cast<float>(name.size() + 1)) << name;
  }
}

TEST_F(CaffeWeightsTest, MissingAndUnusedLayersAreNotes) {
  Graph renamed = lenet_;
  for (Layer& layer : renamed.layers) {
    for (std::string& input : layer.inputs) {
      if (input == "fc2") input = "other";
    }
    if (layer.name == "fc2") layer.name = "other";
  }
  const Result<WeightFiles> files =
      UnpackWeights(Write(lenet_), renamed, DefaultCaffeNames(renamed), folder_.path());
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_THAT(files->notes, ElementsAre(HasSubstr("has no values for other"),
                                        HasSubstr("the network has no layer fc2")));
}

TEST_F(CaffeWeightsTest, AFileOfAnotherNetworkIsAnError) {
  const Graph vgg = *LoadNetwork("vgg16", "", 0, {});
  const Result<WeightFiles> files =
      UnpackWeights(Write(lenet_), vgg, DefaultCaffeNames(vgg), folder_.path());
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.error().message, HasSubstr("no layer of the file is in the network 'vgg16'"));
}

TEST_F(CaffeWeightsTest, NamesAreThoseOfThePrototxtOrOurOwn) {
  EXPECT_TRUE(CaffeNamesOf("lenet", lenet_).ok());
  EXPECT_THAT(CaffeNamesOf("/no/such.prototxt", lenet_).error().message,
              HasSubstr("/no/such.prototxt"));
}

}  // namespace
}  // namespace tench::caffe_weights_test
