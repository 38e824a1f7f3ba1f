// SPDX-License-Identifier: Apache-2.0
#include "worker/library_file.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"

namespace tench::library_file_test {
namespace {

using testing::HasSubstr;

class LibraryFileTest : public testing::Test {
 protected:
  // The C library, found by a function that no sanitizer replaces.
  static std::string Real() {
    Dl_info info{};
    EXPECT_NE(dladdr(reinterpret_cast<void*>(&::gnu_get_libc_version), &info), 0);
    return info.dli_fname;
  }
  std::string Written(const std::string& content) const {
    const std::string path = (folder_.path() / "lib.so").string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-library-test-");
};

TEST_F(LibraryFileTest, AWholeLibraryPasses) {
  const Status checked = CheckLibraryFile(Real());
  EXPECT_TRUE(checked.ok()) << checked.error().message;
}

TEST_F(LibraryFileTest, ALibraryThatWasCutOffIsNamedWithItsSizes) {
  const std::string whole = *ReadFile(Real());
  const Status half = CheckLibraryFile(Written(whole.substr(0, whole.size() / 2)));
  ASSERT_FALSE(half.ok());
  EXPECT_THAT(half.error().message, HasSubstr("lib.so is cut off: it has"));
  const Status stump = CheckLibraryFile(Written(whole.substr(0, 100)));
  ASSERT_FALSE(stump.ok());
  EXPECT_THAT(stump.error().message, HasSubstr("lib.so is damaged"));
}

TEST_F(LibraryFileTest, SomethingElseIsNoLibrary) {
  for (const char* content : {"", "INPUT(libother.so)",
                              "\x7f"
                              "ELF"}) {
    const Status checked = CheckLibraryFile(Written(content));
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message, HasSubstr("is no shared library of this machine"));
  }
  const Status missing = CheckLibraryFile(folder_.path() / "none.so");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace tench::library_file_test
