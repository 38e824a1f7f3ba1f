// SPDX-License-Identifier: Apache-2.0
#include "worker/symbol_table.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/file.h"

namespace tench::symbol_table_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kMathLibrary = "/lib/x86_64-linux-gnu/libm.so.6";

struct MathFunctions {
  SymbolTable symbols;
  double (*square_root)(double) = symbols["sqrt"];
  double (*floor)(double) = symbols["floor"];
};

struct OtherFunctions {
  SymbolTable symbols;
  double (*square_root)(double) = symbols["sqrt"];
  void (*first)() = symbols["no_such_function"];
  void (*second)() = symbols["nor_this_one"];
};

class SymbolTableTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kMathLibrary)) GTEST_SKIP() << "no " << kMathLibrary;
  }
  SymbolTable Math() { return *SymbolTable::Open(kMathLibrary, RTLD_NOW | RTLD_LOCAL, "fix"); }
};

TEST_F(SymbolTableTest, EachMemberOfATableResolvesItself) {
  const MathFunctions math{Math()};
  EXPECT_TRUE(math.symbols.Complete("libm").ok());
  EXPECT_EQ(math.square_root(9), 3);
  EXPECT_EQ(math.floor(2.5), 2);
}

TEST_F(SymbolTableTest, NamesTheFileAndTheFirstMissingSymbol) {
  const OtherFunctions other{Math()};
  EXPECT_EQ(other.square_root(9), 3);
  EXPECT_EQ(other.first, nullptr);
  const Status complete = other.symbols.Complete("this is another library");
  ASSERT_FALSE(complete.ok());
  EXPECT_EQ(complete.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(complete.error().message,
            std::string(kMathLibrary) + " has no symbol no_such_function: this is another library");
}

TEST_F(SymbolTableTest, AnOptionalSymbolIsNullAndNotMissed) {
  const SymbolTable math = Math();
  double (*square_root)(double) = math.Optional("sqrt");
  void (*absent)() = math.Optional("no_such_function");
  EXPECT_EQ(square_root(4), 2);
  EXPECT_EQ(absent, nullptr);
  EXPECT_TRUE(math.Complete("libm").ok());
}

TEST_F(SymbolTableTest, AFileThatIsNoLibraryIsOneLineWithTheFix) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-symbols");
  std::ofstream(folder.path() / "lib.so") << "text";
  const auto opened = SymbolTable::Open(folder.path() / "lib.so", RTLD_NOW, "fetch it");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr("lib.so is no shared library"), HasSubstr("(fetch it)")));
  EXPECT_EQ(opened.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tench::symbol_table_test
