// SPDX-License-Identifier: Apache-2.0
#include "plan/worker_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "plan/matrix.h"
#include "plan/suite.h"

namespace tench::worker_table_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCells = "worker: [caffe@intel, nightly]\nnetwork: lenet\n";

std::string ErrorOf(const std::string& table) {
  const Result<Suite> suite = ParseSuite("workers: " + table + "\n" + kCells, "s.yaml");
  return suite.ok() ? "no error" : suite.error().message;
}

TEST(WorkerTableTest, HoldsExecutablesAndDrivenPrograms) {
  const Result<Suite> suite = ParseSuite(
      std::string("workers:\n  caffe@intel: /opt/caffe\n  nightly: a/tench-worker-torch\n") +
          kCells,
      "s.yaml");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_EQ(suite->workers.size(), 2u);
  EXPECT_EQ(suite->workers[0].name, "caffe@intel");
  EXPECT_EQ(suite->workers[0].file, "/opt/caffe");
  EXPECT_EQ(suite->workers[1].name, "nightly");
  EXPECT_EQ(suite->workers[1].place, (TextPlace{3, 3}));
}

TEST(WorkerTableTest, NamesWorkersOfTheCellsAndKnownWorkersOnly) {
  Catalog catalog;
  catalog.workers = {"caffe"};
  catalog.networks = {"lenet"};
  const auto expand = [&](const std::string& table) {
    return Expand(*ParseSuite("workers: " + table + "\n" + kCells, "s.yaml"), catalog);
  };
  const auto cells = expand("{caffe@intel: /a, nightly: /b}");
  ASSERT_TRUE(cells.ok()) << cells.error().message;
  EXPECT_EQ(cells->size(), 2u);
  EXPECT_EQ(expand("{cafe@intel: /a, nightly: /b}").error().message,
            "s.yaml:1:11: workers: unknown worker 'cafe'; did you mean 'caffe'?");
  EXPECT_THAT(expand("{caffe@intel: /a}").error().message, HasSubstr("unknown worker 'nightly'"));
}

TEST(WorkerTableTest, IsNotPartOfTheFingerprint) {
  // Results are tied to the build of a worker, not to its path.
  const std::string one = std::string("workers: {nightly: /a}\n") + kCells;
  EXPECT_EQ(ParseSuite(one, "s.yaml")->fingerprint, ParseSuite(kCells, "s.yaml")->fingerprint);
}

TEST(WorkerTableTest, PathsCountFromTheCurrentFolderThenFromTheSuites) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  std::ofstream(folder.path() / "caffe") << "";
  std::ofstream(folder.path() / "s.yaml") << "workers: {caffe@intel: caffe, nightly: none/worker}\n"
                                          << kCells;
  const Result<Suite> suite = LoadSuite((folder.path() / "s.yaml").string(), {});
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_EQ(suite->workers[0].file, folder.path() / "caffe");
  EXPECT_EQ(suite->workers[1].file, std::filesystem::current_path() / "none/worker");
}

TEST(WorkerTableTest, ErrorsNameThePlace) {
  EXPECT_THAT(ErrorOf("caffe"), HasSubstr("s.yaml:1:10: workers: expected a map"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("expected a map"));
  EXPECT_THAT(ErrorOf("{caffe@1.0: /a}"),
              HasSubstr("s.yaml:1:11: workers: 'caffe@1.0' is neither NAME nor WORKER@BUILD"));
  EXPECT_THAT(ErrorOf("{a/b: /a}"), HasSubstr("'a/b' is neither"));
  EXPECT_THAT(ErrorOf("{a@b@c: /a}"), HasSubstr("'a@b@c' is neither"));
  EXPECT_THAT(ErrorOf("{nightly: [a]}"), HasSubstr("nightly: expected the path of a program"));
  EXPECT_THAT(ErrorOf("{nightly: }"), HasSubstr("nightly: expected the path of a program"));
  EXPECT_THAT(ErrorOf("{reference: /a}"), HasSubstr("'reference' is the oracle"));
}

TEST(WorkerTableTest, StandsAtTheTopOfASuite) {
  const Result<Suite> suite =
      ParseSuite("blocks:\n  - {worker: a, network: lenet, workers: {a: /a}}\n", "s.yaml");
  ASSERT_FALSE(suite.ok());
  EXPECT_THAT(suite.error().message, HasSubstr("unknown key 'workers'"));
}

}  // namespace
}  // namespace tench::worker_table_test
