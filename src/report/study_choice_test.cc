// SPDX-License-Identifier: Apache-2.0
#include "report/study_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "store/test_run.h"

namespace tench::study_choice_test {
namespace {

using testing::ElementsAre;

class StudyChoiceTest : public testing::Test {
 protected:
  void AddStudy(const std::string& machine, const std::string& worker) {
    StudyRecord study = TestStudy();
    study.machine = study.machine_id = machine;
    const int64_t id = *store_.AddStudy(study);
    RunRecord run = TestRun(id, 0, TestCell(worker));
    run.machine = run.machine_id = machine;
    ASSERT_TRUE(store_.AddRun(run, {}).ok());
  }
  std::optional<int64_t> Latest(const std::vector<std::string>& only) {
    const RunSelector selector = *ParseSelector(only);
    return *LatestStudy(store_, {&selector});
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("choice-test");
  Store store_ = *Store::Open(folder_.path() / "x.db", Store::Mode::kReadWrite);
};

TEST_F(StudyChoiceTest, IsTheNewestStudyWithAMatchingRun) {
  EXPECT_EQ(Latest({}), std::nullopt) << "an empty file";
  AddStudy("pond", "torch");
  AddStudy("pond", "mxnet");
  AddStudy("lake", "torch");
  EXPECT_EQ(Latest({}), 3);
  EXPECT_EQ(Latest({"worker=mxnet"}), 2);
  EXPECT_EQ(Latest({"machine=pond", "worker=torch"}), 1);
  EXPECT_EQ(Latest({"worker=native"}), std::nullopt);
}

TEST_F(StudyChoiceTest, AStudyIsNamedByItsNumberOrPlace) {
  EXPECT_EQ(NamedStudy(store_, "latest", "x.db").error().message, "x.db has no study");
  AddStudy("pond", "torch");
  AddStudy("pond", "torch");
  EXPECT_EQ(*NamedStudy(store_, "1", "x.db"), 1);
  EXPECT_EQ(*NamedStudy(store_, "latest", "x.db"), 2);
  EXPECT_EQ(*NamedStudy(store_, "all", "x.db"), std::nullopt);
  EXPECT_EQ(NamedStudy(store_, "3", "x.db").error().message,
            "x.db has no study 3; it has 1 (quick, 2026-01-02T03:04:05Z), "
            "2 (quick, 2026-01-02T03:04:05Z)");
  EXPECT_EQ(NamedStudy(store_, "old", "x.db").error().message, "study: 'old' is not an integer");
}

TEST_F(StudyChoiceTest, EveryMachineHasItsOwnNewestStudy) {
  AddStudy("pond", "torch");
  AddStudy("lake", "torch");
  AddStudy("pond", "torch");
  AddStudy("lake", "mxnet");
  EXPECT_THAT(*LatestStudyOfEachMachine(store_, {}), ElementsAre(3, 4));
  const RunSelector torch = *ParseSelector(std::vector<std::string>{"worker=torch"});
  EXPECT_THAT(*LatestStudyOfEachMachine(store_, torch), ElementsAre(2, 3));
}

}  // namespace
}  // namespace tench::study_choice_test
