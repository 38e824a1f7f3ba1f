// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>

#include "base/text.h"

namespace tench::file_test {
namespace {

using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-file-test-");
  std::filesystem::path Path(const char* name) const { return folder_.path() / name; }
  size_t Entries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
};

TEST_F(FileTest, WritesAndReadsBackEveryByte) {
  const std::string content("a\0b\n\xff", 5);
  ASSERT_TRUE(WriteFileAtomically(Path("f"), content).ok());
  EXPECT_EQ(*ReadFile(Path("f")), content);
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "").ok());
  EXPECT_EQ(*ReadFile(Path("f")), "");
  EXPECT_EQ(Entries(), 1u) << "a temporary file was left behind";
}

TEST_F(FileTest, ErrorsNameThePathAndTheReason) {
  EXPECT_EQ(ReadFile(Path("none")).error().message,
            Path("none").string() + ": cannot open: No such file or directory");
  EXPECT_THAT(ReadFile(folder_.path()).error().message, HasSubstr("Is a directory"));
  EXPECT_THAT(WriteFileAtomically(Path("no/such/folder"), "x").error().message,
              HasSubstr("No such file or directory"));
  EXPECT_THAT(WriteFileAtomically(folder_.path(), "x").error().message,
              HasSubstr("Is a directory"));
}

TEST_F(FileTest, ALimitRefusesLargerFilesAndPipes) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "12345").ok());
  EXPECT_EQ(*ReadFile(Path("f"), 5), "12345");
  EXPECT_THAT(ReadFile(Path("f"), 4).error().message,
              HasSubstr("is larger than the 4 bytes allowed"));
  EXPECT_FALSE(ReadFile("/dev/zero", 100'000).ok());
}

TEST_F(FileTest, ReadsFilesThatClaimToBeEmpty) {
  EXPECT_THAT(*ReadFile("/proc/self/status"), HasSubstr("VmRSS"));
}

TEST_F(FileTest, TheHashOfAFileIsThatOfItsContentWhateverItsSize) {
  for (const size_t size : {size_t{0}, size_t{3}, size_t{1} << 20, (size_t{3} << 20) + 17}) {
    std::string content(size, '\0');
    for (size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 7 + i / 251);
    std::ofstream(Path("long"), std::ios::binary) << content;
    EXPECT_EQ(*HashFile(Path("long")), Hash64(content)) << size;
  }
  EXPECT_THAT(HashFile(Path("missing")).error().message, HasSubstr("missing"));
}

// A file-size limit simulates a full disk: write fails after some bytes.
TEST_F(FileTest, AFailedWriteLeavesTheOldContentAlone) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "old").ok());
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status written = WriteFileAtomically(Path("f"), std::string(100'000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("cannot write: File too large"));
  EXPECT_EQ(*ReadFile(Path("f")), "old");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FileTest, WritesThroughWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  Fd reader(open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(WriteFileAtomically(Path("pipe"), "through").ok());
  char buffer[16] = {};
  EXPECT_EQ(read(reader.get(), buffer, sizeof buffer), 7);
  EXPECT_STREQ(buffer, "through");
}

TEST_F(FileTest, RawTensorsKeepTheirBitsAndTheirSize) {
  const std::array<float, 3> values = {1.5f, -0.0f, 3e38f};
  ASSERT_TRUE(WriteRaw(Path("t"), std::span<const float>(values)).ok());
  EXPECT_EQ(ReadFile(Path("t"))->substr(0, 4), std::string("\0\0\xc0\x3f", 4))
      << "not little-endian";
  std::array<float, 3> read{};
  ASSERT_TRUE(ReadRaw(Path("t"), std::span<float>(read)).ok());
  EXPECT_EQ(read, values);
  std::array<int32_t, 4> wrong{};
  EXPECT_THAT(ReadRaw(Path("t"), std::span<int32_t>(wrong)).error().message,
              HasSubstr("has 12 bytes, expected 16"));
  const std::array<int32_t, 1> integers = {-2};
  ASSERT_TRUE(WriteRaw(Path("i"), std::span<const int32_t>(integers)).ok());
  std::array<int32_t, 1> back{};
  ASSERT_TRUE(ReadRaw(Path("i"), std::span<int32_t>(back)).ok());
  EXPECT_EQ(back, integers);
}

TEST(TemporaryFolderTest, DisappearsWithAllItHolds) {
  std::filesystem::path path;
  {
    TemporaryFolder first = *TemporaryFolder::Make("tench-folder-test-");
    path = first.path();
    ASSERT_TRUE(std::filesystem::is_directory(path));
    std::filesystem::create_directories(path / "a" / "b");
    TemporaryFolder second = std::move(first);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolderTest, OnlyWhatAKilledProcessLeftIsRemoved) {
  const std::string prefix = "tench-abandoned-" + std::to_string(getpid()) + "-";
  const TemporaryFolder mine = *TemporaryFolder::Make(prefix);
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = TemporaryFolder::Make(prefix);
    std::ofstream(folder->path() / "job.json") << "{}";
    const std::string path = folder->path().string();
    // Without destructors, as in a killed process.
    _exit(write(report[1], path.data(), path.size()) > 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::string left(4096, '\0');
  left.resize(static_cast<size_t>(read(report[0], left.data(), left.size())));
  ASSERT_TRUE(std::filesystem::exists(left));
  EXPECT_EQ(TemporaryFolder::RemoveAbandoned(prefix), 0) << "too young";
  EXPECT_EQ(TemporaryFolder::RemoveAbandoned(prefix, 0), 1);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(mine.path()));
}

TEST(FdTest, ClosesOnceAndMoves) {
  static_assert(!std::is_copy_constructible_v<Fd>);
  int raw;
  {
    Fd fd(open("/dev/null", O_RDONLY));
    raw = fd.get();
    Fd other = std::move(fd);
    EXPECT_FALSE(fd.valid());
    EXPECT_EQ(other.get(), raw);
  }
  EXPECT_EQ(fcntl(raw, F_GETFD), -1);
  Fd kept(open("/dev/null", O_RDONLY));
  raw = kept.Release();
  kept.Close();
  EXPECT_NE(fcntl(raw, F_GETFD), -1);
  close(raw);
}

TEST(ExecutableFolderTest, HoldsTheRunningTest) {
  EXPECT_TRUE(std::filesystem::exists(ExecutableFolder() / "tench_base_test"));
}

TEST(UserCacheFolderTest, FollowsTheEnvironment) {
  const auto with = [](const char* cache, const char* home) {
    const char* names[] = {"XDG_CACHE_HOME", "HOME"};
    std::optional<std::string> saved[2];
    const char* values[] = {cache, home};
    for (int i = 0; i < 2; ++i) {
      if (const char* old = std::getenv(names[i])) saved[i] = old;
      setenv(names[i], values[i], 1);
    }
    const std::filesystem::path folder = UserCacheFolder();
    for (int i = 0; i < 2; ++i) {
      if (saved[i]) {
        setenv(names[i], saved[i]->c_str(), 1);
      } else {
        unsetenv(names[i]);
      }
    }
    return folder;
  };
  EXPECT_EQ(with("/cache", "/home/me"), "/cache/tench");
  EXPECT_EQ(with("", "/home/me"), "/home/me/.cache/tench");
  EXPECT_EQ(with("", ""), "");
}

}  // namespace
}  // namespace tench::file_test
