// SPDX-License-Identifier: Apache-2.0
#include "cli/gzip_file.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace tench::gzip_file_test {
namespace {

TEST(GzipFileTest, EqualContentGivesEqualBytesOfAGzipFile) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  const std::string content(100'000, 'x');
  ASSERT_TRUE(WriteGzipFile(folder.path() / "a.gz", content));
  ASSERT_TRUE(WriteGzipFile(folder.path() / "b.gz", content));
  const std::string bytes = *ReadFile(folder.path() / "a.gz");
  EXPECT_EQ(bytes, *ReadFile(folder.path() / "b.gz"));
  ASSERT_GT(bytes.size(), 18u);
  EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
  EXPECT_LT(bytes.size(), content.size() / 10);
  // The last four bytes are the length of the content.
  uint32_t length = 0;
  for (size_t i = 0; i < 4; ++i)
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[bytes.size() - 4 + i]))
              << (8 * i);
  EXPECT_EQ(length, content.size());
}

TEST(GzipFileTest, AFolderThatIsMissingIsOneLine) {
  const Status written = WriteGzipFile("/nonexistent/folder/a.gz", "x");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/nonexistent/folder/a.gz"), std::string::npos);
  EXPECT_EQ(written.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tench::gzip_file_test
