// SPDX-License-Identifier: Apache-2.0
// The files of testdata were written by numpy 1.23: savez_compressed (lists) and savez (the rest).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "data/data_reference.h"
#include "data/file_data.h"
#include "data/sample_source.h"

namespace tench::review_ids_source_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kFiles = fs::path(TENCH_SOURCE_DIR) / "src/data/testdata";

std::unique_ptr<SampleSource> Open(const fs::path& path, const SourceOptions& options = {}) {
  OpenedSource source = OpenSource("imdb", path, options);
  EXPECT_TRUE(source.ok()) << source.error().message;
  return source.ok() ? *std::move(source) : nullptr;
}

StoredSample Read(const SampleSource& source, int64_t index) {
  StoredSample sample;
  const Status read = source.Read(index, sample);
  EXPECT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(sample.form, SampleForm::kWords);
  return sample;
}

std::string ErrorOf(const fs::path& path, const SourceOptions& options = {}) {
  const OpenedSource source = OpenSource("imdb", path, options);
  if (!source.ok()) return source.error().message;
  StoredSample sample;
  for (int64_t i = 0; i < (*source)->facts().count; ++i) {
    if (const Status read = (*source)->Read(i, sample); !read.ok()) return read.error().message;
  }
  return "";
}

std::string Content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ReviewIdsSourceTest, ReadsListsOfIdsOfBothSplits) {
  const auto train = Open(kFiles / "lists.npz");
  EXPECT_EQ(train->facts().count, 3);
  EXPECT_EQ(train->facts().classes, 2);
  EXPECT_EQ(train->facts().vocabulary, 20'000);
  EXPECT_THAT(Read(*train, 0).words, ElementsAre(1, 14, 22, 16));
  EXPECT_EQ(Read(*train, 0).label, 1);
  EXPECT_THAT(Read(*train, 1).words, ElementsAre(1, 194, 1153, 1)) << "70000 is unknown";
  EXPECT_EQ(Read(*train, 1).label, 0);
  EXPECT_THAT(Read(*train, 2).words, ElementsAre(3, 3, 3));
  SourceOptions options;
  options.test_split = true;
  options.vocabulary = 7;
  const auto test = Open(kFiles / "lists.npz", options);
  EXPECT_EQ(test->facts().count, 2);
  EXPECT_THAT(Read(*test, 1).words, ElementsAre(1));
  EXPECT_EQ(Read(*test, 1).label, 1);
}

TEST(ReviewIdsSourceTest, RowsOfAMatrixLoseTheirPaddingAtBothEnds) {
  const auto source = Open(kFiles / "matrix.npz");
  EXPECT_THAT(Read(*source, 0).words, ElementsAre(7, 8, 9));
  EXPECT_THAT(Read(*source, 1).words, ElementsAre(4));
  EXPECT_THAT(Read(*source, 2).words, ElementsAre(1, 0, 2));
}

TEST(ReviewIdsSourceTest, TheSplitsHaveDifferentFingerprints) {
  const std::string text = "imdb:" + (kFiles / "lists.npz").string();
  EXPECT_EQ(*DetectFormat(kFiles / "lists.npz"), "imdb");
  const auto train = FileData::Open(text), test = FileData::Open(text + ",split=test");
  ASSERT_TRUE(train.ok() && test.ok());
  EXPECT_EQ(train->facts().count, 3);
  EXPECT_EQ(test->facts().count, 2);
  EXPECT_NE(*train->Fingerprint(), *test->Fingerprint());
  EXPECT_EQ(ParseDataReference(text + ",split=both").error().message,
            "data: split: 'both' is neither train nor test");
}

TEST(ReviewIdsSourceTest, WhatIsNotAListOfIdsIsNamed) {
  EXPECT_THAT(ErrorOf(kFiles / "real.npz"),
              HasSubstr("real.npz: x: element 1 is not a list of integers"));
  EXPECT_THAT(ErrorOf(kFiles / "negative.npz"), HasSubstr("x[0]: the word id -2 is negative"));
  EXPECT_THAT(ErrorOf(kFiles / "labels.npz"),
              HasSubstr("y must have one label for each of the 1 lists of x"));
  SourceOptions test;
  test.test_split = true;
  EXPECT_THAT(ErrorOf(kFiles / "matrix.npz", test),
              HasSubstr("no array 'x_test' (it has: x.npy, y.npy)"));
}

TEST(ReviewIdsSourceTest, DamagedFilesAreNamedWithTheOffset) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-ids-");
  const fs::path file = folder.path() / "a.npz";
  const std::string whole = Content(kFiles / "lists.npz");
  const auto with = [&](const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    return ErrorOf(file);
  };
  EXPECT_EQ(with(whole), "");
  EXPECT_THAT(with(whole.substr(0, whole.size() / 2)),
              HasSubstr("the end record of a ZIP archive is missing"));
  EXPECT_THAT(with(""), HasSubstr("offset 0: the end record of a ZIP archive is missing"));
  std::string changed = whole;
  changed[80] = static_cast<char>(changed[80] ^ 0x55);  // within the first member's data
  EXPECT_THAT(with(changed), testing::AnyOf(HasSubstr("broken deflate data"),
                                            HasSubstr("the checksum of the member is wrong")));
}

}  // namespace
}  // namespace tench::review_ids_source_test
