// SPDX-License-Identifier: Apache-2.0
#include "report/html/series_style.h"

#include <gtest/gtest.h>

#include <set>

namespace tench::series_style_test {
namespace {

TEST(SeriesStyleTest, KnownWorkersDifferInColourMarkerAndDash) {
  std::set<std::string> colours, shapes;
  std::set<std::vector<int>> dashes;
  for (const char* worker : {"native", "reference", "torch", "tensorflow", "mxnet", "caffe", "jax",
                             "theano", "cntk", "tensorflow1", "torch-python", "mxnet-python",
                             "caffe2", "paddle", "chainer", "keras", "neon"}) {
    const SeriesStyle style = StyleOf(worker);
    EXPECT_TRUE(colours.insert(style.colour).second) << worker;
    EXPECT_TRUE(shapes.insert(style.shape).second) << worker;
    EXPECT_TRUE(dashes.insert(style.dash).second) << worker;
  }
}

TEST(SeriesStyleTest, TheStyleDependsOnTheNameAlone) {
  EXPECT_EQ(StyleOf("torch").colour, StyleOf("torch").colour);
  EXPECT_EQ(StyleOf("fastnet").colour, StyleOf("fastnet").colour);
  EXPECT_EQ(StyleOf("fastnet").shape, StyleOf("fastnet").shape);
}

TEST(SeriesStyleTest, VariantsOfAWorkerShareItsColour) {
  for (const char* variant : {"torch@2.1", "torch 2.1+1a2b3c4", "torch layout=nhwc"})
    EXPECT_EQ(StyleOf(variant).colour, StyleOf("torch").colour) << variant;
  EXPECT_NE(StyleOf("torchlight").colour, StyleOf("torch").colour);
}

}  // namespace
}  // namespace tench::series_style_test
