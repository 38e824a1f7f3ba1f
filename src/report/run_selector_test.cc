// SPDX-License-Identifier: Apache-2.0
#include "report/run_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/test_run.h"

namespace tench::run_selector_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Selection Parsed(const std::string& text) {
  Result<Selection> selection = ParseSelection(text);
  EXPECT_TRUE(selection.ok()) << (selection.ok() ? "" : selection.error().message);
  return selection.ok() ? *selection : Selection{};
}

std::string ErrorOf(const std::string& text) {
  const Result<Selection> selection = ParseSelection(text);
  return selection.ok() ? "" : selection.error().message;
}

TEST(RunSelectorTest, ASideIsAStudyAFileAWorkerOrAFilter) {
  EXPECT_EQ(Parsed("3").study, "3");
  EXPECT_EQ(Parsed("latest").study, "latest");
  EXPECT_EQ(Parsed("before.db").database, "before.db");
  EXPECT_EQ(Parsed("torch").runs.cells.terms[0].first, "worker");
  EXPECT_THAT(Parsed("torch@2.15").runs.cells.terms[0].second, ElementsAre("torch@2.15"));
  EXPECT_EQ(Parsed("option.layout=nhwc").runs.cells.terms[0].first, "option.layout");
  const Selection all =
      Parsed("after.db; study=2; worker=torch,native; threads=1; machine=pond; version=2.15.0");
  EXPECT_EQ(all.database, "after.db");
  EXPECT_EQ(all.study, "2");
  EXPECT_EQ(all.runs.cells.terms.size(), 2u);
  EXPECT_THAT(all.runs.machines, ElementsAre("pond"));
  EXPECT_THAT(all.runs.versions, ElementsAre("2.15.0"));
}

TEST(RunSelectorTest, BadSidesAreRefusedInWords) {
  EXPECT_THAT(ErrorOf("bacth=3"), HasSubstr("did you mean 'batch'?"));
  EXPECT_THAT(ErrorOf("batch=none"), HasSubstr("batch"));
  EXPECT_THAT(ErrorOf("1;2"), HasSubstr("names two studies"));
  EXPECT_THAT(ErrorOf("study=newest"), HasSubstr("a study is a number"));
  EXPECT_THAT(ErrorOf("machine="), HasSubstr("names no machine"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("names nothing"));
  EXPECT_THAT(ErrorOf("torch;"), HasSubstr("names nothing"));
}

TEST(RunSelectorTest, MachinesMatchByLabelOrIdAndVersionsExactly) {
  const RunRecord run = TestRun();
  const std::vector<std::string> label = {"machine=pond"}, id = {"machine=pond-id"},
                                 other = {"machine=lake"};
  EXPECT_TRUE(ParseSelector(label)->Matches(run));
  EXPECT_TRUE(ParseSelector(id)->Matches(run));
  EXPECT_FALSE(ParseSelector(other)->Matches(run));
  const std::vector<std::string> version = {"version=1.0;batch=64"}, newer = {"version=1"};
  EXPECT_TRUE(ParseSelector(version)->Matches(run));
  EXPECT_FALSE(ParseSelector(newer)->Matches(run));
  const std::vector<std::string> build = {"version=1.0+1a2b3c4"}, rebuilt = {"version=1.0+0000000"};
  EXPECT_TRUE(ParseSelector(build)->Matches(run));
  EXPECT_FALSE(ParseSelector(rebuilt)->Matches(run));
  EXPECT_TRUE(ParseSelector({})->Matches(run));
}

TEST(RunSelectorTest, WhatBothSidesSayAlikeIsNotCompared) {
  EXPECT_THAT(ComparedAxes(Parsed("torch;batch=16,32"), Parsed("native;batch=32,16")),
              ElementsAre("worker"));
  EXPECT_THAT(ComparedAxes(Parsed("threads=1"), Parsed("threads=2")), ElementsAre("threads"));
  EXPECT_THAT(ComparedAxes(Parsed("threads=1"), Parsed("worker=x")),
              ElementsAre("threads", "worker"));
  EXPECT_THAT(ComparedAxes(Parsed("1"), Parsed("2")), ElementsAre(kVersionAxis));
  EXPECT_THAT(ComparedAxes(Parsed("a.db"), Parsed("b.db")),
              ElementsAre(kMachineAxis, kVersionAxis));
  EXPECT_THAT(ComparedAxes(Parsed("a.db;torch"), Parsed("a.db;torch")), IsEmpty());
}

}  // namespace
}  // namespace tench::run_selector_test
