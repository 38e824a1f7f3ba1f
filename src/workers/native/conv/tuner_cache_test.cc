// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/tuner_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"

namespace tench::native {
namespace {

struct TunerCacheTest : testing::Test {
  TemporaryFolder folder = *TemporaryFolder::Make("tench-tuner");
  std::filesystem::path Folder() const { return folder.path() / "not" / "there"; }
  TunerCache Open(const std::string& machine = "some CPU, oneDNN 3.2.0") const {
    return {Folder(), machine};
  }
};

TEST_F(TunerCacheTest, RemembersAcrossProcesses) {
  TunerCache cache = Open();
  EXPECT_FALSE(cache.Find("forward a"));
  cache.Remember("forward a", "blocked/1");
  EXPECT_EQ(cache.Find("forward a"), "blocked/1");
  ASSERT_TRUE(cache.Save().ok());
  EXPECT_EQ(Open().Find("forward a"), "blocked/1");
}

TEST_F(TunerCacheTest, KeepsWhatAnotherProcessHasWrittenMeanwhile) {
  TunerCache first = Open(), second = Open();
  first.Remember("a", "1");
  second.Remember("b", "2");
  ASSERT_TRUE(first.Save().ok());
  ASSERT_TRUE(second.Save().ok());
  EXPECT_EQ(Open().Find("a"), "1");
  EXPECT_EQ(Open().Find("b"), "2");
}

TEST_F(TunerCacheTest, IgnoresAndRewritesADamagedFile) {
  TunerCache cache = Open();
  cache.Remember("a", "1");
  ASSERT_TRUE(cache.Save().ok());
  const std::string whole = *ReadFile(cache.path());
  for (size_t length = 0; length < whole.size() - 2; length += 3) {
    ASSERT_TRUE(WriteFileAtomically(cache.path(), whole.substr(0, length)).ok());
    TunerCache damaged = Open();
    EXPECT_FALSE(damaged.Find("a")) << length;
    damaged.Remember("b", "2");
    ASSERT_TRUE(damaged.Save().ok());
    EXPECT_EQ(Open().Find("b"), "2");
  }
  for (const std::string nonsense :
       {"[]", "{\"version\": 3}", "{\"version\":1,\"machine\":3,\"choices\":{}}", "\xff\xfe"}) {
    ASSERT_TRUE(WriteFileAtomically(cache.path(), nonsense).ok());
    EXPECT_FALSE(Open().Find("a")) << nonsense;
  }
}

TEST_F(TunerCacheTest, IgnoresAFileOfAnotherMachine) {
  TunerCache cache = Open();
  cache.Remember("a", "1");
  ASSERT_TRUE(cache.Save().ok());
  const TunerCache other = Open("another CPU, oneDNN 3.2.0");
  EXPECT_NE(other.path(), cache.path());
  // Even under the name that it would have there.
  std::filesystem::copy_file(cache.path(), other.path());
  EXPECT_FALSE(Open("another CPU, oneDNN 3.2.0").Find("a"));
}

// Ids were renamed and kernels became faster: a selection of an older generation says nothing.
TEST_F(TunerCacheTest, IgnoresASelectionOfAnOlderKernelGeneration) {
  const std::string current = MachineName();
  const size_t at = current.rfind(' ') + 1;
  const int generation = std::stoi(current.substr(at));
  ASSERT_GE(generation, 5) << "5 renamed own/0 to direct/0";
  const std::string older = current.substr(0, at) + std::to_string(generation - 1);
  TunerCache old_cache = Open(older);
  old_cache.Remember("backward_weights a", "own/0");
  ASSERT_TRUE(old_cache.Save().ok());
  EXPECT_FALSE(Open(current).Find("backward_weights a"));
  std::filesystem::copy_file(old_cache.path(), Open(current).path());
  EXPECT_FALSE(Open(current).Find("backward_weights a")) << "even under the current file name";
  EXPECT_EQ(Open(older).Find("backward_weights a"), "own/0");
}

TEST_F(TunerCacheTest, WithoutAFolderItForgets) {
  TunerCache cache({}, "some CPU");
  cache.Remember("a", "1");
  EXPECT_EQ(cache.Find("a"), "1");
  EXPECT_TRUE(cache.Save().ok());
}

TEST_F(TunerCacheTest, AFolderThatCannotBeWrittenIsAnError) {
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "not", "a file").ok());
  TunerCache cache = Open();
  cache.Remember("a", "1");
  EXPECT_FALSE(cache.Save().ok());
}

}  // namespace
}  // namespace tench::native
