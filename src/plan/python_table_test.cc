// SPDX-License-Identifier: Apache-2.0
#include "plan/python_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "plan/suite.h"
#include "plan/suite_path.h"

namespace tench::python_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kCells = "worker: [native, jax, keras@3.15]\nnetwork: lenet\n";

Suite SuiteOf(const std::string& head) {
  const Result<Suite> suite = ParseSuite(head + kCells, "s.yaml");
  EXPECT_TRUE(suite.ok()) << suite.error().message;
  return suite.ok() ? *suite : Suite();
}

std::string ErrorOf(const std::string& value) {
  const Result<Suite> suite = ParseSuite("python: " + value + "\n" + kCells, "s.yaml");
  return suite.ok() ? "no error" : suite.error().message;
}

TEST(PythonTableTest, HoldsOnePathOrSeveralWithAndWithoutNames) {
  const Suite one = SuiteOf("python: /opt/venv\n");
  ASSERT_EQ(one.python.size(), 1u);
  EXPECT_EQ(one.python[0].name, "");
  EXPECT_EQ(one.python[0].path, "/opt/venv");
  EXPECT_EQ(SuiteOf("python: [/a, /b]\n").python[1].path, "/b");
  const Suite named = SuiteOf("python: {old: /a, new: /b}\n");
  ASSERT_EQ(named.python.size(), 2u);
  EXPECT_EQ(named.python[1].name, "new");
  EXPECT_EQ(named.python[1].place, (TextPlace{1, 24}));
}

TEST(PythonTableTest, RefusesWhatIsNoNameOrNoPath) {
  EXPECT_THAT(ErrorOf("{3.11: /a}"), HasSubstr("s.yaml:1:10: python: '3.11' is no name"));
  EXPECT_THAT(ErrorOf("{a b: /a}"), HasSubstr("'a b' is no name"));
  EXPECT_THAT(ErrorOf("{a: [1]}"), HasSubstr("python: expected the path"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("python: expected the path"));
  EXPECT_THAT(ErrorOf("''"), HasSubstr("python: expected the path"));
}

TEST(PythonTableTest, AWorkerWithoutAVersionRunsInEveryEnvironment) {
  Suite suite = SuiteOf("include: [{worker: jax, batch: 2}]\n");
  const std::vector<std::string> environments = {"old", "new"}, workers = {"jax", "keras"};
  RunInEnvironments(environments, workers, suite);
  const AxisList& list = suite.blocks[0].axes[0];
  EXPECT_THAT(list.values, ElementsAre("native", "jax@old", "jax@new", "keras@3.15"));
  ASSERT_EQ(list.places.size(), 4u);
  EXPECT_EQ(list.places[1], list.places[2]);
  EXPECT_THAT(suite.blocks[0].include[0].axes[0].values, ElementsAre("jax@old", "jax@new"));
}

TEST(PythonTableTest, AWorkerThatIsNamedTwiceRunsOnce) {
  Result<Suite> suite = ParseSuite("worker: [jax@old, jax]\nnetwork: lenet\n", "s.yaml");
  ASSERT_TRUE(suite.ok());
  const std::vector<std::string> environments = {"old"}, workers = {"jax"};
  RunInEnvironments(environments, workers, *suite);
  EXPECT_THAT(suite->blocks[0].axes[0].values, ElementsAre("jax@old"));
}

TEST(PythonTableTest, NamesArePartOfTheFingerprintAndPathsOfNamedOnesAreNot) {
  const auto fingerprint = [](const std::string& head) { return SuiteOf(head).fingerprint; };
  EXPECT_NE(fingerprint("python: {a: /x}\n"), fingerprint(""));
  EXPECT_NE(fingerprint("python: {a: /x}\n"), fingerprint("python: {b: /x}\n"));
  EXPECT_EQ(fingerprint("python: {a: /x}\n"), fingerprint("python: {a: /y}\n"));
}

TEST(PythonTableTest, ARelativePathMayCountFromTheSuite) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  std::filesystem::create_directories(folder.path() / "envs/a");
  Suite suite = SuiteOf("python: {a: envs/a, b: python3, c: /c}\n");
  ResolvePaths(folder.path(), suite);
  EXPECT_EQ(suite.python[0].path, (folder.path() / "envs/a").string());
  EXPECT_EQ(suite.python[1].path, "python3");
  EXPECT_EQ(suite.python[2].path, "/c");
}

}  // namespace
}  // namespace tench::python_table_test
