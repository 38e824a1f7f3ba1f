// SPDX-License-Identifier: Apache-2.0
#include "cli/study_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "store/test_run.h"

namespace tench::study_flags_test {
namespace {

using testing::HasSubstr;

class StudyFlagsTest : public testing::Test {
 protected:
  StudyFlags Parse(const std::string& line, StudyFlags::With with) {
    StudyFlags flags;
    CLI::App app;
    flags.AddTo(app, with);
    app.parse(line);
    return flags;
  }
  StudyFlags Parse(const std::string& line) {
    return Parse("--db " + path_ + " " + line, StudyFlags::With::kStudyAndFilter);
  }
  // A store with two studies of one run each, with batch 64 and 16.
  void MakeStore() {
    Store store = *Store::Open(path_, Store::Mode::kReadWrite);
    for (const auto& [suite, batch] : {std::pair("quick", "64"), {"peers", "16"}}) {
      StudyRecord study;
      study.suite = suite;
      RunRecord run;
      run.study = *store.AddStudy(study);
      ASSERT_TRUE(run.cell.Set("batch", batch).ok());
      run.cell_id = run.cell.Id();
      ASSERT_TRUE(store.AddRun(run, {}).ok());
    }
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("cli-test");
  std::string path_ = folder_.path() / "x.db";
};

TEST_F(StudyFlagsTest, FindsTheStudyByNumberAndTheNewest) {
  MakeStore();
  Store store = *Parse("").Open();
  EXPECT_EQ(Parse("").database(), path_);
  EXPECT_EQ(*Parse("--study all").Study(store), std::nullopt);
  EXPECT_EQ(*Parse("--study 1").Study(store), 1);
  EXPECT_EQ(*Parse("--study latest").Study(store), 2);
  EXPECT_THAT(Parse("--study 3").Study(store).error().message,
              testing::AllOf(HasSubstr("has no study 3"), HasSubstr("1 (quick")));
  EXPECT_THAT(Parse("--study x").Study(store).error().message, HasSubstr("study: 'x'"));
}

TEST_F(StudyFlagsTest, TheDefaultIsTheNewestStudyOfTheFilter) {
  MakeStore();
  Store store = *Parse("").Open();
  EXPECT_EQ(*Parse("").Study(store), 2);
  EXPECT_EQ(*Parse("--only batch=64").Study(store), 1);
  EXPECT_EQ(*Parse("--only batch=7").Study(store), std::nullopt);
}

TEST_F(StudyFlagsTest, TheDefaultOfSeveralMachinesIsTheNewestStudyOfEach) {
  using Numbers = std::vector<int64_t>;
  {
    Store store = *Store::Open(path_, Store::Mode::kReadWrite);
    for (const auto& [machine, batch] : {std::pair("pond", 64), {"lake", 64}, {"lake", 16}}) {
      StudyRecord study = TestStudy();
      study.machine_id = machine;
      RunRecord run = TestRun(*store.AddStudy(study), 0, TestCell("native", "lenet", batch));
      run.machine_id = machine;
      ASSERT_TRUE(store.AddRun(run, {}).ok());
    }
  }
  Store store = *Parse("").Open();
  EXPECT_EQ(*Parse("").StudyOfEachMachine(store), (Numbers{1, 3}));
  EXPECT_EQ(*Parse("--only batch=64").StudyOfEachMachine(store), (Numbers{1, 2}));
  EXPECT_EQ(*Parse("--study 2").StudyOfEachMachine(store), Numbers{2});
  EXPECT_EQ(*Parse("--study all").StudyOfEachMachine(store), Numbers{});
}

TEST_F(StudyFlagsTest, AMissingFileAndAnEmptyStoreAreErrors) {
  EXPECT_THAT(Parse("").Open().error().message, HasSubstr(path_));
  Store store = *Store::Open(path_, Store::Mode::kReadWrite);
  EXPECT_THAT(Parse("--study latest").Study(store).error().message, HasSubstr("has no study"));
}

TEST_F(StudyFlagsTest, TheFilterKeepsMatchingRuns) {
  const RunSelector selector = *Parse("--only batch=64").Filter();
  RunRecord run;
  ASSERT_TRUE(run.cell.Set("batch", "64").ok());
  EXPECT_TRUE(selector.Matches(run));
  ASSERT_TRUE(run.cell.Set("batch", "32").ok());
  EXPECT_FALSE(selector.Matches(run));
  EXPECT_THAT(Parse("--only btch=64").Filter().error().message, HasSubstr("--only"));
}

TEST_F(StudyFlagsTest, ACommandWithoutAFilterHasNoSuchFlag) {
  EXPECT_THROW(Parse("--only batch=64", StudyFlags::With::kStudy), CLI::ParseError);
}

}  // namespace
}  // namespace tench::study_flags_test
