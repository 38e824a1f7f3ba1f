// SPDX-License-Identifier: Apache-2.0
#include "cli/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/archive.h"
#include "cli/program_run.h"
#include "store/test_run.h"

namespace tench::bundle_test {
namespace {

using testing::HasSubstr;

class BundleTest : public testing::Test {
 protected:
  // Two studies: runs 1 and 2 of one cell with a log, run 3 without a log.
  void SetUp() override {
    Store store = *Store::Open(database_, Store::Mode::kReadWrite);
    const int64_t first = *store.AddStudy(TestStudy("quick")),
                  second = *store.AddStudy(TestStudy("peers"));
    RunSeries series = TestSeries();
    for (const int64_t round : {0, 1}) {
      series.log = "output of round " + std::to_string(round);
      ASSERT_TRUE(store.AddRun(TestRun(first, round), series).ok());
    }
    ASSERT_TRUE(store.AddRun(TestRun(second, 0, TestCell("native")), {}).ok());
  }

  std::string In(const std::string& name) const { return (folder_.path() / name).string(); }

  BundleCounts Write(std::optional<int64_t> study) {
    Store store = *Store::Open(database_, Store::Mode::kReadOnly);
    BundleRequest request;
    request.output = bundle_;
    request.database = database_;
    request.pins = In("pins");
    request.study = study;
    request.version = "1.2.3";
    int64_t last = 0;
    const Result<BundleCounts> counts =
        WriteBundle(store, request, [&](int64_t runs) { EXPECT_EQ(runs, ++last); });
    EXPECT_TRUE(counts.ok()) << counts.error().message;
    return *counts;
  }

  std::string Packed(const std::string& name) {
    const Status extracted = ExtractFile(bundle_, "tench-bundle/" + name, In("out"));
    EXPECT_TRUE(extracted.ok()) << extracted.error().message;
    return *ReadFile(In("out"));
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-bundle-test-");
  const std::string database_ = In("r.db"), bundle_ = In("b.tar.zst");
};

TEST_F(BundleTest, HoldsOneStudyWithItsLogsAndEachCommandOnce) {
  std::filesystem::create_directory(In("pins"));
  ASSERT_TRUE(WriteFileAtomically(In("pins/debian.txt"), "fish=1\n").ok());
  const BundleCounts counts = Write(1);
  EXPECT_EQ(counts.runs, 2);
  EXPECT_EQ(counts.logs, 2);
  EXPECT_EQ(Packed("logs/1.txt"), "output of round 0");
  EXPECT_EQ(Packed("logs/2.txt"), "output of round 1");
  EXPECT_EQ(Packed("pins/debian.txt"), "fish=1\n");
  EXPECT_EQ(Packed("suite.yaml"), TestStudy().suite_text);
  EXPECT_EQ(Packed("commands.sh"),
            "#!/bin/sh\ntench sweep suite.yaml --only batch=1 --rounds 5 --db r.db\n" +
                TestRun().reproducer + "\n");
  ResultsFile file = *ResultsFile::Open(bundle_);
  EXPECT_EQ(file.store.Studies()->size(), 1u);
}

TEST_F(BundleTest, OfSeveralStudiesEachFileHasTheNumberOfItsStudy) {
  const BundleCounts counts = Write(std::nullopt);
  EXPECT_EQ(counts.runs, 3);
  EXPECT_EQ(counts.logs, 2);
  EXPECT_EQ(Packed("suite-2.yaml"), TestStudy().suite_text);
  EXPECT_THAT(Packed("machine-1.json"), HasSubstr("\"cpu\": \"fish\""));
  const std::string commands = Packed("commands.sh");
  for (const char* worker : {"reference", "native"})
    EXPECT_THAT(commands, HasSubstr(TestRun(0, 0, TestCell(worker)).reproducer)) << worker;
}

TEST_F(BundleTest, TheCommandSelectsTheStudy) {
  for (const auto& [study, counts] : {std::pair("all", ": 3 runs, 2 logs "),
                                      {"1", ": 2 runs, 2 logs "},
                                      {"latest", ": 1 run, 0 logs "}}) {
    const ProgramRun bundled = RunTench({"bundle", bundle_, "--db", database_, "--study", study});
    EXPECT_EQ(bundled.code, 0) << bundled.errors;
    EXPECT_THAT(bundled.errors, HasSubstr(counts)) << study;
  }
}

}  // namespace
}  // namespace tench::bundle_test
