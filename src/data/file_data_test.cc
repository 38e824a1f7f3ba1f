// SPDX-License-Identifier: Apache-2.0
#include "data/file_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "data/data_set.h"
#include "data/test_data_files.h"

namespace tench::file_data_test {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class FileDataTest : public testing::Test {
 protected:
  FileData Opened(const std::string& reference) const {
    Result<FileData> data = FileData::Open(reference);
    Check(data.ok(), data.ok() ? "" : data.error().message);
    return *std::move(data);
  }
  // LeNet reads 28x28; an MLP any of the small sets.
  TypedGraph Network(std::string_view name, int64_t batch, std::string_view data = "") const {
    return *Infer(*LoadNetwork(name, data, 0), batch);
  }

  TemporaryFolder folder = *TemporaryFolder::Make("file-data-test");
  fs::path root = folder.path();
};

TEST_F(FileDataTest, ABatchIsTheSamplesOfTheOrderWithTheirLabels) {
  WriteIdx(root, 6, 28, 10);
  FileData data = Opened("mnist:" + root.string() + ",scale=0.5");
  const TypedGraph graph = Network("lenet", 4);
  ASSERT_TRUE(data.Fit(graph).ok());
  data.Start(5, 0, true);
  std::vector<HostTensor> batch;
  ASSERT_TRUE(data.MakeBatch(graph, 4, batch).ok());
  ASSERT_EQ(batch.size(), 2u);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t position = 4 + i;  // the third is of the second epoch
    const int64_t sample = ShuffledOrder(5, position / 6, 6)[static_cast<size_t>(position % 6)];
    EXPECT_EQ(batch[1].i32[static_cast<size_t>(i)], sample);
    EXPECT_EQ(batch[0].f32[static_cast<size_t>(i) * 784 + 3],
              0.5f * static_cast<float>(sample + 3));
  }
  FileData plain = Opened("mnist:" + root.string() + ",shuffle=no");
  plain.Start(5, 0, true);
  ASSERT_TRUE(plain.MakeBatch(graph, 0, batch).ok());
  EXPECT_THAT(batch[1].i32, ElementsAre(0, 1, 2, 3));
  plain.Start(5, 3, true);
  ASSERT_TRUE(plain.MakeBatch(graph, 0, batch).ok());
  EXPECT_THAT(batch[1].i32, ElementsAre(0, 1, 2, 0));
}

TEST_F(FileDataTest, ThreadsDoNotChangeABit) {
  for (int64_t n = 0; n < 8; ++n)
    WriteBytes(root / (n % 2 ? "carp" : "pike") / fmt::format("{}.jpg", n),
               EncodeJpeg(SmoothImage(40 + n, 50)));
  FileData data = Opened("folder:" + root.string() + ",resize=40,crop=32,mirror=yes,classes=10");
  const TypedGraph graph = Network("mlp", 8, "cifar10");
  ASSERT_TRUE(data.Fit(graph).ok()) << data.Fit(graph).error().message;
  data.Start(3, 0, true);
  std::vector<HostTensor> one, four;
  ASSERT_TRUE(data.MakeBatch(graph, 8, one, 1).ok());
  ASSERT_TRUE(data.MakeBatch(graph, 8, four, 4).ok());
  EXPECT_EQ(one[0].f32, four[0].f32);
  EXPECT_EQ(one[1].i32, four[1].i32);
}

TEST_F(FileDataTest, ImagesOfAnySizeFollowTheNetwork) {
  WriteBytes(root / "carp/0.jpg", EncodeJpeg(SmoothImage(300, 260)));
  FileData data = Opened("folder:" + root.string());
  const InputSpec usual = (*FindDataSet("cifar10"))->spec;
  EXPECT_EQ(data.SpecFor(usual)->height, 32);
  EXPECT_EQ(data.SpecFor(usual)->classes, 1);
  const TypedGraph graph = Network("mlp", 2, "cifar10");
  ASSERT_TRUE(data.Fit(graph).ok());
  std::vector<HostTensor> batch;
  ASSERT_TRUE(data.MakeBatch(graph, 0, batch).ok());
  EXPECT_EQ(batch[0].f32.size(), 2u * 3072u);
  EXPECT_EQ(Opened("folder:" + root.string() + ",classes=1000").SpecFor(usual)->classes, 1000);
}

TEST_F(FileDataTest, ReviewsArePaddedAndCut) {
  WriteBytes(root / "neg/a.txt", "a a b");
  WriteBytes(root / "pos/a.txt", "b c");
  FileData data = Opened("imdb:" + root.string() + ",shuffle=no,vocabulary=50");
  InputSpec usual = (*FindDataSet("imdb"))->spec;
  usual.length = 2;
  const InputSpec spec = *data.SpecFor(usual);
  EXPECT_EQ(spec.vocabulary, 50);
  const TypedGraph graph = *Infer(*(*FindNetwork("lstm"))->build(spec), 2);
  ASSERT_TRUE(data.Fit(graph).ok());
  std::vector<HostTensor> batch;
  ASSERT_TRUE(data.MakeBatch(graph, 0, batch).ok());
  EXPECT_THAT(batch[0].i32, ElementsAre(2, 2, 3, 4));
  EXPECT_THAT(batch[1].i32, ElementsAre(2, 2));
  EXPECT_THAT(batch[2].i32, ElementsAre(0, 1));
  usual.length = 4;
  const TypedGraph longer = *Infer(*(*FindNetwork("lstm"))->build(*data.SpecFor(usual)), 2);
  ASSERT_TRUE(data.MakeBatch(longer, 0, batch).ok());
  EXPECT_THAT(batch[0].i32, ElementsAre(2, 2, 3, 0, 3, 4, 0, 0));
  EXPECT_THAT(batch[1].i32, ElementsAre(3, 2));
}

TEST_F(FileDataTest, DataThatDoesNotFitTheNetworkIsRefused) {
  WriteIdx(root, 12, 28, 12);
  FileData digits = Opened("mnist:" + root.string());
  EXPECT_THAT(digits.Fit(Network("lenet", 1)).error().message,
              HasSubstr("it has 12 classes, but the network 'lenet' has 10"));
  EXPECT_THAT(digits.Fit(Network("lenet", 1, "cifar10")).error().message,
              HasSubstr("its samples are 1x28x28, but the network 'lenet' reads 3x32x32"));
  EXPECT_THAT(digits.Fit(Network("lstm", 1)).error().message, HasSubstr("reads words"));
  EXPECT_THAT(digits.CheckLabels(10).error().message, HasSubstr("the label 10 is not from 0 to 9"));
  EXPECT_TRUE(*digits.CheckLabels(12));
}

TEST_F(FileDataTest, ABrokenImageIsNamedAtAnyNumberOfThreads) {
  const std::string jpeg = EncodeJpeg(RampImage(3, 64, 64, 0), 100);
  for (int64_t n = 0; n < 8; ++n)
    WriteBytes(root / "carp" / fmt::format("{}.jpg", n),
               n == 3 || n == 6 ? jpeg.substr(0, jpeg.size() / 2) : jpeg);
  FileData data = Opened("folder:" + root.string() + ",shuffle=no");
  const TypedGraph graph = Network("mlp", 8, "cifar10");
  ASSERT_TRUE(data.Fit(graph).ok());
  std::vector<HostTensor> batch;
  for (const int threads : {1, 4})
    EXPECT_THAT(data.MakeBatch(graph, 0, batch, threads).error().message,
                HasSubstr(fmt::format("3.jpg: offset {}: the JPEG is cut off", jpeg.size() / 2)));
}

TEST_F(FileDataTest, TheFingerprintCoversFilesAndTransformation) {
  WriteIdx(root / "a", 4, 28, 4);
  WriteIdx(root / "b", 4, 28, 4);
  const auto print = [&](const std::string& text) { return *Opened(text).Fingerprint(); };
  const std::string a = "mnist:" + (root / "a").string(), b = "mnist:" + (root / "b").string();
  EXPECT_EQ(print(a), print(b)) << "the folder's name does not count";
  for (const char* keys : {",scale=0.5", ",crop=24", ",mirror=yes", ",mean=3", ",shuffle=no"})
    EXPECT_NE(print(a), print(a + keys)) << keys;
  std::string bytes = *ReadFile(root / "b/train-images-idx3-ubyte");
  bytes[100] ^= 1;
  WriteBytes(root / "b/train-images-idx3-ubyte", bytes);
  EXPECT_NE(print(a), print(b));
  const std::string pinned = a + ",fingerprint=" + print(a);
  EXPECT_TRUE(Opened(pinned).CheckFingerprint().ok());
  EXPECT_EQ(print(pinned), print(a));
  EXPECT_THAT(Opened(b + ",fingerprint=" + print(a)).CheckFingerprint().error().message,
              HasSubstr("its files have changed"));
}

TEST_F(FileDataTest, TheLabelsOfAListArePartOfItsFingerprint) {
  WriteBytes(root / "one.jpg", "x");
  const std::string list = (root / "list.txt").string();
  WriteBytes(list, "one.jpg 0\n");
  const std::string before = *Opened("folder:" + list).Fingerprint();
  WriteBytes(list, "one.jpg 1\n");
  EXPECT_NE(*Opened("folder:" + list).Fingerprint(), before);
}

// The real files of TENCH_TEST_DATA (default ../shared/data).
class RealDataTest : public FileDataTest {
 protected:
  void SetUp() override {
    const char* set = std::getenv("TENCH_TEST_DATA");
    files = set != nullptr ? fs::path(set) : fs::path(TENCH_SOURCE_DIR) / "../shared/data";
    if (!fs::is_directory(files)) GTEST_SKIP() << "no real data in " << files;
  }
  fs::path files;
};

TEST_F(RealDataTest, Cifar10HasEveryClassEquallyOften) {
  const fs::path path = files / "cifar-10-subset";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is missing";
  FileData data = Opened("cifar10:" + path.string() + ",shuffle=no");
  EXPECT_EQ(data.facts().count, 10'000);
  EXPECT_TRUE(*data.CheckLabels(10));
  const TypedGraph graph = Network("mlp", 100, "cifar10");
  ASSERT_TRUE(data.Fit(graph).ok());
  std::vector<HostTensor> batch;
  ASSERT_TRUE(data.MakeBatch(graph, 0, batch).ok());
  for (int32_t label = 0; label < 10; ++label)
    EXPECT_EQ(std::count(batch[1].i32.begin(), batch[1].i32.end(), label), 10);
}

TEST_F(RealDataTest, PhotographsAreDecodedWhole) {
  const fs::path path = files / "imagenette-10" / "val";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is missing";
  FileData data = Opened("folder:" + path.string() + ",resize=64,crop=32,classes=10");
  EXPECT_EQ(data.facts().count, 300);
  EXPECT_EQ(data.facts().classes, 10);
  const TypedGraph graph = Network("mlp", 300, "cifar10");
  ASSERT_TRUE(data.Fit(graph).ok());
  std::vector<HostTensor> batch;
  const Status made = data.MakeBatch(graph, 0, batch);
  EXPECT_TRUE(made.ok()) << made.error().message;
}

TEST_F(RealDataTest, TheOneClassStudyHas1024Images) {
  const fs::path path = files / "tench-1024";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is missing";
  const FileData data = Opened("folder:" + path.string());
  EXPECT_EQ(data.facts().count, 1024);
  EXPECT_THAT(data.facts().class_names, ElementsAre("n01440764"));
}

TEST_F(RealDataTest, ReviewsUseTheWholeVocabulary) {
  const fs::path path = files / "aclImdb-subset";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is missing";
  const FileData data = Opened("imdb:" + (path / "test").string() + ",vocabulary=1000");
  EXPECT_EQ(data.facts().count, 500);
  StoredSample sample;
  int64_t unknown = 0, words = 0;
  for (int64_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(data.source().Read(i, sample).ok());
    unknown += std::count(sample.words.begin(), sample.words.end(), 1);
    words += static_cast<int64_t>(sample.words.size());
    for (const int32_t word : sample.words) ASSERT_TRUE(word >= 1 && word < 1000);
  }
  // A thousand words cover most of an English text.
  EXPECT_LT(unknown, words / 2);
  EXPECT_GT(unknown, words / 20);
}

}  // namespace
}  // namespace tench::file_data_test
