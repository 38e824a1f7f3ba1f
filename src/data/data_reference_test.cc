// SPDX-License-Identifier: Apache-2.0
#include "data/data_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::data_reference_test {
namespace {

using testing::HasSubstr;

TEST(DataReferenceTest, ASetWithoutAPathIsSynthetic) {
  for (const char* synthetic : {"mnist", "imdb", "", "photos"})
    EXPECT_FALSE(IsDataReference(synthetic)) << synthetic;
  EXPECT_TRUE(IsDataReference("mnist:/data"));
  EXPECT_TRUE(IsDataReference("lmdb:x"));
}

TEST(DataReferenceTest, ReadsEveryKey) {
  const DataReference data = *ParseDataReference(
      "folder:/data/a, b,resize=256x300,crop=227,mirror=yes,mean=104/117/123.5,scale=0.5,"
      "shuffle=no,classes=1000,channels=3");
  EXPECT_EQ(data.format, "folder");
  EXPECT_EQ(data.path, "/data/a, b");
  EXPECT_EQ(data.transform.resize_height, 256);
  EXPECT_EQ(data.transform.resize_width, 300);
  EXPECT_EQ(data.transform.crop, 227);
  EXPECT_TRUE(data.transform.mirror);
  EXPECT_EQ(data.transform.mean, (std::vector<float>{104, 117, 123.5f}));
  EXPECT_EQ(data.transform.scale, 0.5f);
  EXPECT_FALSE(data.shuffle);
  EXPECT_EQ(data.classes, 1000);
  EXPECT_EQ(data.transform.channels, 3);
  const DataReference words = *ParseDataReference("imdb:x,vocabulary=5000,length=40");
  EXPECT_EQ(words.source.vocabulary, 5000);
  EXPECT_EQ(words.length, 40);
  const DataReference table = *ParseDataReference("csv:x.csv,shape=1x28x28,label=first");
  EXPECT_EQ(table.source.shape, (Shape{1, 28, 28}));
  EXPECT_TRUE(table.source.label_first);
  const DataReference plain = *ParseDataReference("mnist:relative");
  EXPECT_TRUE(plain.shuffle);
  EXPECT_EQ(plain.transform, Transform());
}

TEST(DataReferenceTest, MistakesNameTheKey) {
  const auto error = [](std::string_view text) {
    const Result<DataReference> data = ParseDataReference(text);
    return data.ok() ? "no error" : data.error().message;
  };
  EXPECT_EQ(error("folder:x,crop=0"), "data: crop: '0' is not an integer from 1 to 65536");
  EXPECT_EQ(error("folder:x,mirror=maybe"), "data: mirror: 'maybe' is neither yes nor no");
  EXPECT_THAT(error("folder:x,crp=5"), HasSubstr("did you mean 'crop'?"));
  EXPECT_EQ(error("folder:x,crop=5,crop=6"), "data: crop: given twice");
  EXPECT_EQ(error("mnist:x,resize=5"), "data: resize: the format mnist does not have it");
  EXPECT_EQ(error("folder:x,mean=a"), "data: mean: 'a' is not a number");
  EXPECT_THAT(error("folder:x,mean=1,mean_file=y"), HasSubstr("exclude each other"));
  EXPECT_THAT(error("folder:"), HasSubstr("has no path"));
  EXPECT_THAT(error("folder:x,channels=2"), HasSubstr("1 or 3 channels"));
  EXPECT_THAT(error("csv:x,shape=3x4"), HasSubstr("'3x4' has 2 sizes instead of 3"));
  EXPECT_THAT(error("mnits:x"), HasSubstr("did you mean 'mnist'?"));
  EXPECT_THAT(error("mnist:x,fingerprint=12"), HasSubstr("is not 16 hex digits"));
}

TEST(DataReferenceTest, PathsBecomeAbsolute) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(*AbsoluteDataReference("folder:a,crop=5,mean_file=m.binaryproto,mirror=yes"),
            "folder:" + here + "/a,crop=5,mean_file=" + here + "/m.binaryproto,mirror=yes");
  EXPECT_EQ(*AbsoluteDataReference("mnist:/data"), "mnist:/data");
}

}  // namespace
}  // namespace tench::data_reference_test
