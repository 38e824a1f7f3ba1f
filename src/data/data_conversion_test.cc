// SPDX-License-Identifier: Apache-2.0
#include "data/data_conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "data/test_data_files.h"

namespace tench::data_conversion_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class DataConversionTest : public testing::Test {
 protected:
  std::string In(const std::string& format, const std::string& name) const {
    return format + ":" + (root / name).string();
  }
  ConversionResult Convert(const std::string& from, const std::string& to) const {
    const Result<ConversionResult> result = ConvertData(from, to, nullptr, StopToken());
    Check(result.ok(), result.ok() ? "" : result.error().message);
    return *result;
  }
  std::string ErrorOf(const std::string& from, const std::string& to) const {
    const Result<ConversionResult> result = ConvertData(from, to, nullptr, StopToken());
    return result.ok() ? "no error" : result.error().message;
  }

  TemporaryFolder folder = *TemporaryFolder::Make("conversion-test");
  fs::path root = folder.path();
};

TEST_F(DataConversionTest, EveryFormatKeepsPixelsLabelsAndOrder) {
  WriteIdx(root / "digits", 12, 6, 3);
  const std::vector<std::pair<std::string, std::string>> steps = {
      {"lmdb", "a"}, {"tfrecord", "b.tfrecord"}, {"recordio", "c.rec"}, {"lmdb", "d"}};
  std::string from = In("mnist", "digits");
  for (const auto& [format, name] : steps) {
    EXPECT_TRUE(Convert(from, In(format, name)).complete) << format;
    EXPECT_FALSE(fs::exists(root / (name + ".part")));
    from = In(format, name);
  }
  Convert(from + ",channels=1", In("mnist", "digits2"));
  for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
    EXPECT_EQ(*ReadFile(root / "digits" / file), *ReadFile(root / "digits2" / file)) << file;
}

TEST_F(DataConversionTest, ClassesBecomeFolders) {
  WriteIdx(root / "digits", 6, 6, 2);
  Convert(In("mnist", "digits"), In("folder", "images"));
  EXPECT_TRUE(fs::exists(root / "images/0000000000/00000004.png"));
  const FileData data = *FileData::Open(In("folder", "images"));
  const DataCheck check = CheckSamples(data.source(), nullptr, StopToken());
  EXPECT_THAT(check.of_class, ElementsAre(Pair(0, 3), Pair(1, 3)));
  EXPECT_THAT(check.of_shape, ElementsAre(Pair("1x6x6", 6)));
  EXPECT_TRUE(check.broken.empty());
}

TEST_F(DataConversionTest, ImagesAreCopiedOrResized) {
  const std::string jpeg = EncodeJpeg(SmoothImage(20, 30));
  WriteBytes(root / "p/carp/a.jpg", jpeg);
  Convert(In("folder", "p"), In("lmdb", "whole"));
  StoredSample sample;
  ASSERT_TRUE((*FileData::Open(In("lmdb", "whole"))).source().Read(0, sample).ok());
  EXPECT_EQ(sample.bytes, jpeg);
  Convert(In("folder", "p") + ",resize=8x10", In("lmdb", "small"));
  const FileData small = *FileData::Open(In("lmdb", "small"));
  EXPECT_EQ(small.facts().shape, (Shape{3, 8, 10}));
  EXPECT_THAT(ErrorOf(In("folder", "p"), In("mnist", "x")), HasSubstr("add resize="));
}

TEST_F(DataConversionTest, AStoppedConversionContinuesAtItsCheckpoint) {
  WriteIdx(root / "digits", 2500, 4, 10);
  for (const std::string format : {"mnist", "lmdb", "tfrecord", "recordio"}) {
    Convert(In("mnist", "digits"), In(format, format + "-whole"));
    StopSource stop;
    const auto stop_late = [&](int64_t done, int64_t) {
      if (done >= 1200) stop.RequestStop();
    };
    const auto stopped =
        ConvertData(In("mnist", "digits"), In(format, format), stop_late, stop.token());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    EXPECT_FALSE(stopped->complete);
    EXPECT_FALSE(fs::exists(root / format));
    const ConversionResult rest = Convert(In("mnist", "digits"), In(format, format));
    EXPECT_GE(rest.resumed_from, 1000);
    EXPECT_EQ(rest.samples, 2500);
    const FileData one = *FileData::Open(In(format, format + "-whole")),
                   two = *FileData::Open(In(format, format));
    StoredSample a, b;
    ASSERT_EQ(one.facts().count, two.facts().count);
    for (int64_t i = 0; i < 2500; ++i) {
      ASSERT_TRUE(one.source().Read(i, a).ok() && two.source().Read(i, b).ok());
      ASSERT_EQ(a.bytes, b.bytes) << format << " " << i;
      ASSERT_EQ(a.label, b.label) << format << " " << i;
    }
  }
}

TEST_F(DataConversionTest, AnotherSourceBeginsAgain) {
  WriteIdx(root / "one", 1500, 4, 10);
  WriteIdx(root / "two", 1500, 4, 5);
  StopSource stop;
  const auto stop_late = [&](int64_t done, int64_t) {
    if (done >= 1200) stop.RequestStop();
  };
  ASSERT_TRUE(ConvertData(In("mnist", "one"), In("lmdb", "out"), stop_late, stop.token()).ok());
  EXPECT_EQ(Convert(In("mnist", "two"), In("lmdb", "out")).resumed_from, 0);
  EXPECT_EQ((*FileData::Open(In("lmdb", "out"))).facts().count, 1500);
}

TEST_F(DataConversionTest, MistakesAreNamed) {
  WriteIdx(root / "digits", 3, 4, 3);
  fs::create_directory(root / "there");
  EXPECT_THAT(ErrorOf(In("mnist", "digits"), In("lmdb", "there")), HasSubstr("it exists already"));
  EXPECT_THAT(ErrorOf(In("mnist", "digits"), In("csv", "x")),
              HasSubstr("the format 'csv' cannot be written (one of mnist, folder"));
  EXPECT_THAT(ErrorOf(In("mnist", "digits") + ",crop=2", In("lmdb", "x")),
              HasSubstr("takes the keys resize"));
  EXPECT_THAT(ErrorOf(In("mnist", "digits"), In("lmdb", "x") + ",mirror=yes"),
              HasSubstr("has no keys"));
  WriteBytes(root / "r/neg/a.txt", "one");
  WriteBytes(root / "r/pos/a.txt", "two");
  EXPECT_THAT(ErrorOf(In("imdb", "r"), In("tfrecord", "x")), HasSubstr("a.txt: the sample holds"));
}

TEST_F(DataConversionTest, ACheckNamesEveryBrokenFile) {
  const std::string jpeg = EncodeJpeg(RampImage(3, 64, 64, 0), 100);
  WriteBytes(root / "p/carp/a.jpg", jpeg);
  WriteBytes(root / "p/carp/b.jpg", jpeg.substr(0, jpeg.size() / 2));
  WriteBytes(root / "p/carp/c.png", "text");
  const FileData data = *FileData::Open(In("folder", "p"));
  const DataCheck check = CheckSamples(data.source(), nullptr, StopToken());
  EXPECT_EQ(check.checked, 3);
  EXPECT_THAT(check.of_shape, ElementsAre(Pair("3x64x64", 1)));
  EXPECT_THAT(check.broken, ElementsAre(HasSubstr("b.jpg: offset "), HasSubstr("c.png: offset 0")));
}

}  // namespace
}  // namespace tench::data_conversion_test
