// SPDX-License-Identifier: Apache-2.0
#include "run/session/file_hashes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/file.h"
#include "base/text.h"

namespace tench::file_hashes_test {
namespace {

namespace fs = std::filesystem;

class FileHashesTest : public testing::Test {
 protected:
  fs::path Cache() const { return folder_.path() / "not" / "there"; }
  FileHashes Open() const { return FileHashes(Cache()); }

  // A file last modified `age_s` ago.
  fs::path Put(const std::string& name, const std::string& content, int age_s = 100) const {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << content;
    SetAge(path, age_s);
    return path;
  }
  static void SetAge(const fs::path& path, int age_s) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(age_s));
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-hashes-");
};

TEST_F(FileHashesTest, AnUnchangedFileIsReadOnceEvenByTwoProcesses) {
  const fs::path library = Put("libx.so", "code");
  FileHashes first = Open();
  EXPECT_EQ(first.Hash(library)->hash, Hex64(Hash64("code")));
  EXPECT_EQ(first.Hash(library)->hash, Hex64(Hash64("code")));
  EXPECT_EQ(first.hashed(), 1);
  ASSERT_TRUE(first.Save().ok());
  FileHashes second = Open();
  EXPECT_EQ(second.Hash(library)->hash, Hex64(Hash64("code")));
  EXPECT_EQ(second.hashed(), 0);
}

TEST_F(FileHashesTest, AnotherSizeOrTimeIsReadAgain) {
  const fs::path library = Put("libx.so", "code");
  FileHashes hashes = Open();
  ASSERT_TRUE(hashes.Hash(library).ok());
  Put("libx.so", "code!");
  EXPECT_EQ(hashes.Hash(library)->hash, Hex64(Hash64("code!"))) << "another size";
  Put("libx.so", "edoc!", 50);
  EXPECT_EQ(hashes.Hash(library)->hash, Hex64(Hash64("edoc!"))) << "another time";
  EXPECT_EQ(hashes.hashed(), 3);
}

TEST_F(FileHashesTest, AFileThatMayStillChangeWithinAClockTickIsReadEachTime) {
  const fs::path library = Put("libx.so", "code", 0);
  const fs::file_time_type time = fs::last_write_time(library);
  FileHashes hashes = Open();
  ASSERT_TRUE(hashes.Hash(library).ok());
  std::ofstream(library) << "edoc";
  fs::last_write_time(library, time);
  EXPECT_EQ(hashes.Hash(library)->hash, Hex64(Hash64("edoc")));
  EXPECT_TRUE(hashes.Save().ok());
  EXPECT_FALSE(fs::exists(hashes.cache())) << "there is nothing to keep";
}

TEST_F(FileHashesTest, ADamagedCacheIsIgnoredAndRewritten) {
  const fs::path library = Put("libx.so", "code");
  FileHashes first = Open();
  ASSERT_TRUE(first.Hash(library).ok() && first.Save().ok());
  const std::string whole = *ReadFile(first.cache());
  for (size_t length = 0; length < whole.size() - 2; length += 7) {
    ASSERT_TRUE(WriteFileAtomically(first.cache(), whole.substr(0, length)).ok());
    FileHashes damaged = Open();
    EXPECT_EQ(damaged.Hash(library)->hash, Hex64(Hash64("code"))) << length;
    EXPECT_EQ(damaged.hashed(), 1) << length;
    ASSERT_TRUE(damaged.Save().ok());
    EXPECT_EQ(*ReadFile(first.cache()), whole);
  }
  const std::string bad_hash =
      R"({"version":1,"files":[{"path":"/x","bytes":1,"changed_ns":1,"hash":"zz"}]})";
  for (const std::string& nonsense :
       {std::string("[]"), std::string(R"({"version":1})"),
        std::string(R"({"version":1,"files":[3]})"), bad_hash,
        std::string(R"({"version":2,"files":[]})"), std::string("\xff\xfe")}) {
    ASSERT_TRUE(WriteFileAtomically(first.cache(), nonsense).ok());
    FileHashes damaged = Open();
    EXPECT_EQ(damaged.Hash(library)->hash, Hex64(Hash64("code"))) << nonsense;
  }
}

TEST_F(FileHashesTest, KeepsWhatAnotherProcessSavedMeanwhileAndDropsWhatIsGone) {
  const fs::path a = Put("liba.so", "a"), b = Put("libb.so", "b"), gone = Put("libc2.so", "c");
  FileHashes first = Open(), second = Open();
  ASSERT_TRUE(first.Hash(a).ok() && first.Hash(gone).ok() && second.Hash(b).ok());
  ASSERT_TRUE(first.Save().ok());
  fs::remove(gone);
  ASSERT_TRUE(second.Save().ok());
  FileHashes third = Open();
  ASSERT_TRUE(third.Hash(a).ok() && third.Hash(b).ok());
  EXPECT_EQ(third.hashed(), 0);
  EXPECT_THAT(*ReadFile(third.cache()), testing::Not(testing::HasSubstr("libc2.so")));
}

TEST_F(FileHashesTest, WithoutAFolderItForgets) {
  const fs::path library = Put("libx.so", "code");
  FileHashes hashes{fs::path()};
  EXPECT_TRUE(hashes.Hash(library).ok());
  EXPECT_TRUE(hashes.Save().ok());
  EXPECT_EQ(hashes.cache(), "");
}

TEST_F(FileHashesTest, AMissingFileIsAnError) {
  EXPECT_THAT(Open().Hash("/no/such/file").error().message, testing::HasSubstr("/no/such/file"));
}

}  // namespace
}  // namespace tench::file_hashes_test
