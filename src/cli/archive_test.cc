// SPDX-License-Identifier: Apache-2.0
#include "cli/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/file.h"

namespace tench::archive_test {
namespace {

using testing::HasSubstr;

class ArchiveTest : public testing::Test {
 protected:
  std::filesystem::path In(const std::string& name) const { return folder_.path() / name; }
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-test-");
};

// Without repetition, so that an archive of it is as long.
std::string Incompressible(size_t size) {
  std::mt19937 random(1);
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
  return bytes;
}

TEST_F(ArchiveTest, FilesComeBackAsTheyWere) {
  const std::string large = Incompressible(200'000);
  std::ofstream(In("large"), std::ios::binary) << large;
  Result<ArchiveWriter> writer = ArchiveWriter::Create(In("a.tar.zst"));
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  EXPECT_TRUE(writer->AddText("bundle/empty", ""));
  EXPECT_TRUE(writer->AddFile("bundle/large", In("large")));
  EXPECT_TRUE(writer->AddText("bundle/note", "hello\n"));
  EXPECT_FALSE(std::filesystem::exists(In("a.tar.zst"))) << "an unfinished file is no archive";
  ASSERT_TRUE(writer->Finish());
  EXPECT_FALSE(std::filesystem::exists(In("a.tar.zst.part")));
  EXPECT_TRUE(IsArchive(In("a.tar.zst")));
  ASSERT_TRUE(ExtractFile(In("a.tar.zst"), "bundle/large", In("out")));
  EXPECT_EQ(*ReadFile(In("out")), large);
  ASSERT_TRUE(ExtractFile(In("a.tar.zst"), "bundle/note", In("out")));
  EXPECT_EQ(*ReadFile(In("out")), "hello\n");
  EXPECT_THAT(ExtractFile(In("a.tar.zst"), "other", In("out")).error().message,
              HasSubstr("has no file 'other'"));
}

TEST_F(ArchiveTest, AnUnfinishedArchiveLeavesNoFile) {
  {
    Result<ArchiveWriter> writer = ArchiveWriter::Create(In("a.tar.zst"));
    ASSERT_TRUE(writer.ok());
    EXPECT_TRUE(writer->AddText("x", "y"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_FALSE(ArchiveWriter::Create(In("no/such/folder/a.tar.zst")).ok());
}

TEST_F(ArchiveTest, DamagedFilesAreErrors) {
  Result<ArchiveWriter> writer = ArchiveWriter::Create(In("a.tar.zst"));
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(writer->AddText("x", Incompressible(300'000)));
  ASSERT_TRUE(writer->Finish());
  std::string bytes = *ReadFile(In("a.tar.zst"));
  for (const size_t kept : {bytes.size() / 2, size_t{10}}) {
    std::ofstream(In("cut"), std::ios::binary) << bytes.substr(0, kept);
    EXPECT_FALSE(ExtractFile(In("cut"), "x", In("out")).ok()) << kept;
  }
  std::ofstream(In("text")) << "not an archive";
  EXPECT_FALSE(IsArchive(In("text")));
  EXPECT_FALSE(ExtractFile(In("text"), "x", In("out")).ok());
  EXPECT_FALSE(ExtractFile(In("absent"), "x", In("out")).ok());
}

}  // namespace
}  // namespace tench::archive_test
