// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace tench::golden_test {
namespace {

using testing::HasSubstr;

// Sets an environment variable, and restores it at the end of the scope.
class UpdateSwitch {
 public:
  explicit UpdateSwitch(bool on) {
    if (const char* value = std::getenv(kName)) before_ = value;
    on ? setenv(kName, "1", 1) : unsetenv(kName);
  }
  ~UpdateSwitch() { before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }
  UpdateSwitch(const UpdateSwitch&) = delete;
  UpdateSwitch& operator=(const UpdateSwitch&) = delete;

 private:
  static constexpr const char* kName = "TENCH_UPDATE_GOLDEN";
  std::optional<std::string> before_;
};

TEST(GoldenTest, LiteralTextMustBeEqual) {
  EXPECT_TRUE(MatchesPattern("a 100% b", "a 100% b"));
  EXPECT_FALSE(MatchesPattern("a", "a "));
  EXPECT_FALSE(MatchesPattern("a ", "a"));
  EXPECT_TRUE(MatchesPattern("", ""));
  EXPECT_FALSE(MatchesPattern("", "a"));
}

TEST(GoldenTest, IntHoleTakesSignedIntegersOnly) {
  for (const char* good : {"n=0 ms", "n=-12 ms", "n=+3 ms", "n=99999999999999999999 ms"}) {
    EXPECT_TRUE(MatchesPattern("n=%int% ms", good)) << good;
  }
  for (const char* bad : {"n= ms", "n=1.5 ms", "n=x ms", "n=- ms", "n=1 s"}) {
    EXPECT_FALSE(MatchesPattern("n=%int% ms", bad)) << bad;
  }
}

TEST(GoldenTest, FloatHoleTakesEveryNumber) {
  for (const char* good : {"1", "-1.5", "1e-9", "2.5E+10", "nan", "inf", "-inf"}) {
    EXPECT_TRUE(MatchesPattern("%float%", good)) << good;
  }
  for (const char* bad : {"", "1.5 ", "one", "1e", "--1", "1.2.3"})
    EXPECT_FALSE(MatchesPattern("%float%", bad)) << bad;
}

TEST(GoldenTest, AnyHoleTakesWhatTheRestLeaves) {
  EXPECT_TRUE(MatchesPattern("at %any%: ok", "at : ok"));
  EXPECT_TRUE(MatchesPattern("at %any%: ok", "at a: ok: ok"));
  EXPECT_FALSE(MatchesPattern("at %any%: ok", "at a: bad"));
  EXPECT_TRUE(MatchesPattern("%int%%any%%float%", "12 and 0.5"));
}

TEST(GoldenTest, ReportsTheFirstDifferingLineWithBothSides) {
  const auto mismatch = CompareGolden("a\nb %int%\nc\n", "a\nb x\nd\n");
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->line, 2u);
  EXPECT_EQ(mismatch->expected, "b %int%");
  EXPECT_EQ(mismatch->actual, "b x");
}

TEST(GoldenTest, MissingLinesNewlinesAndCarriageReturnsAreDifferences) {
  EXPECT_FALSE(CompareGolden("a\nb\n", "a\nb\n"));
  const auto shorter = CompareGolden("a\nb\n", "a\n");
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->line, 2u);
  const auto without_newline = CompareGolden("a\n", "a");
  ASSERT_TRUE(without_newline);
  EXPECT_EQ(without_newline->line, 2u);
  EXPECT_FALSE(without_newline->actual);
  EXPECT_TRUE(CompareGolden("a\r\n", "a\n"));
}

TEST(GoldenTest, UpdateKeepsTheHolesOfLinesThatStillMatch) {
  EXPECT_EQ(
      UpdateGolden("head\ntook %float% s\ntail\n", "head\nnew line\ntook 3.5 s\ntail, longer\n"),
      "head\nnew line\ntook %float% s\ntail, longer\n");
  EXPECT_EQ(UpdateGolden("", "a\n"), "a\n");
  EXPECT_EQ(UpdateGolden("a\nb\n", "b\n"), "b\n");
}

TEST(GoldenTest, FileIsWrittenWhenAskedAndComparedOtherwise) {
  auto folder = TemporaryFolder::Make("golden");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "sub" / "case.txt";
  {
    const UpdateSwitch off(false);
    const auto absent = MatchesGoldenFile(path, "one\n");
    EXPECT_FALSE(absent);
    EXPECT_THAT(absent.message(), HasSubstr("TENCH_UPDATE_GOLDEN=1"));
  }
  {
    const UpdateSwitch on(true);
    EXPECT_TRUE(MatchesGoldenFile(path, "one\n"));
  }
  const UpdateSwitch off(false);
  EXPECT_TRUE(MatchesGoldenFile(path, "one\n"));
  const auto different = MatchesGoldenFile(path, "two\n");
  EXPECT_FALSE(different);
  EXPECT_THAT(different.message(), HasSubstr("case.txt:1"));
  EXPECT_THAT(different.message(), HasSubstr("expected: \"one\""));
  EXPECT_THAT(different.message(), HasSubstr("actual:   \"two\""));
  EXPECT_EQ(*ReadFile(path), "one\n");
}

}  // namespace
}  // namespace tench::golden_test
