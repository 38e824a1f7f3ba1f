// SPDX-License-Identifier: Apache-2.0
#include "report/html/loss_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tench::loss_note_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ReportCell Curve(const std::string& series, const std::vector<double>& losses) {
  ReportCell cell;
  cell.series = series;
  for (size_t i = 0; i < losses.size(); ++i)
    cell.series_data.loss.push_back({static_cast<double>(i + 1), losses[i]});
  return cell;
}

std::string NoteOf(const ReportCell& a, const ReportCell& b) {
  const std::vector<const ReportCell*> curves = {&a, &b};
  return LossNote(curves);
}

TEST(LossNoteTest, EqualComputationsCoincideAndTheNoteSaysHowWell) {
  EXPECT_EQ(NoteOf(Curve("torch", {2.3, 2, 1, 0.3}), Curve("mxnet", {2.3, 2, 1.01, 0.3})),
            "The curves coincide: equal computations. They differ by at most 0.5 % of the range of "
            "the losses.");
}

TEST(LossNoteTest, ATinyDifferenceHasAPlainNumber) {
  EXPECT_THAT(NoteOf(Curve("torch", {2.3, 2, 0.3}), Curve("mxnet", {2.3, 2.000001, 0.3})),
              HasSubstr("They differ by less than 0.01 % of the range"));
}

TEST(LossNoteTest, OneCurveHasNoNote) {
  const ReportCell alone = Curve("torch", {2.3, 2});
  const std::vector<const ReportCell*> curves = {&alone};
  EXPECT_EQ(LossNote(curves), "");
}

TEST(LossNoteTest, DropoutIsTheReasonWhereItIsOn) {
  ReportCell torch = Curve("torch", {2.3, 2, 1});
  torch.dropout = true;
  EXPECT_THAT(NoteOf(torch, Curve("mxnet", {2.3, 1, 2})), HasSubstr("own dropout masks"));
}

TEST(LossNoteTest, CurvesThatSeparateLaterNameTheStepTheWorkersAndRounding) {
  EXPECT_EQ(NoteOf(Curve("torch", {2.3, 2, 1.5, 1, 0.3}), Curve("mxnet", {2.3, 2, 1.5, 1.2, 0.3})),
            "The curves separate at step 4 (torch, mxnet): the first losses agree, and every "
            "update amplifies the frameworks' different rounding.");
}

TEST(LossNoteTest, OtherFirstLossesAreOtherComputations) {
  EXPECT_THAT(NoteOf(Curve("torch", {2.3, 2, 1}), Curve("mxnet", {2.5, 2.1, 1})),
              testing::AllOf(StartsWith("The curves separate at step 1"),
                             HasSubstr("did not compute the same")));
}

TEST(LossNoteTest, AnUndefinedLossOfOneWorkerIsNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(NoteOf(Curve("torch", {2.3, 2, 1, nan}), Curve("mxnet", {2.3, 2, 1, 0.9})),
              HasSubstr("step 4 (torch, mxnet), where a loss is undefined"));
}

TEST(LossNoteTest, OnlyStepsThatBothHaveAreCompared) {
  ReportCell thinned = Curve("mxnet", {2.3, 2, 1, 0.3});
  thinned.series_data.loss.erase(thinned.series_data.loss.begin() + 2);
  EXPECT_THAT(NoteOf(Curve("torch", {2.3, 2, 5, 0.3}), thinned), StartsWith("The curves coincide"));
}

}  // namespace
}  // namespace tench::loss_note_test
