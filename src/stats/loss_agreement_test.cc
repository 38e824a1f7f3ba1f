// SPDX-License-Identifier: Apache-2.0
#include "stats/loss_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tench::loss_agreement_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

LossTrace Trace(const std::string& worker, std::vector<double> losses,
                const std::string& version = "1") {
  return {worker, worker + " " + version, std::move(losses)};
}

std::vector<std::string> Judge(const std::vector<LossTrace>& traces,
                               StepUpdate update = StepUpdate::kUpdates) {
  return JudgeLosses(traces, update);
}

const auto kRight = IsEmpty();
const auto kWrong = Not(IsEmpty());

TEST(LossAgreementTest, LossesThatDifferByRoundingAgree) {
  EXPECT_THAT(Judge({Trace("native", {6.9, 6.0, 5.0}), Trace("torch", {6.9001, 6.0004, 5.001}),
                     Trace("mxnet", {6.8999, 5.999, 4.998})}),
              Each(kRight));
}

TEST(LossAgreementTest, TheMajorityOfFrameworksIsRight) {
  const auto reasons =
      Judge({Trace("native", {2.3, 2.2, 2.1}), Trace("torch", {2.3, 2.0, 1.5}, "2.15"),
             Trace("tensorflow", {2.3, 2.0, 1.5}, "2.21"), Trace("mxnet", {2.4, 2.0, 1.5})});
  EXPECT_THAT(reasons, ElementsAre(kWrong, kRight, kRight, kWrong));
  EXPECT_THAT(reasons[0], AllOf(HasSubstr("loss 2.2 at step 2, but 2 with"),
                                HasSubstr("tensorflow 2.21, torch 2.15"), Not(HasSubstr("mxnet")),
                                Not(HasSubstr("majority"))));
  EXPECT_THAT(reasons[3], HasSubstr("loss 2.4 at step 1, but 2.3 with"));
}

TEST(LossAgreementTest, OfTwoThatDisagreeBothAreWrongAndNameEachOther) {
  const auto reasons = Judge({Trace("torch", {2.3}), Trace("mxnet", {2.5})});
  EXPECT_THAT(reasons[0], AllOf(HasSubstr("mxnet 1"), HasSubstr("no majority")));
  EXPECT_THAT(reasons[1], AllOf(HasSubstr("torch 1"), HasSubstr("no majority")));
}

TEST(LossAgreementTest, WithoutAMajorityTheReferenceIsRight) {
  EXPECT_THAT(Judge({Trace("torch", {2.3}), Trace("reference", {2.5}), Trace("native", {2.5})}),
              ElementsAre(kWrong, kRight, kRight));
  EXPECT_THAT(Judge({Trace("native", {2.3}), Trace("reference", {2.5})}),
              ElementsAre(kWrong, kRight));
  // Two against two, with the reference on one side.
  EXPECT_THAT(Judge({Trace("torch", {2.3}), Trace("mxnet", {2.3}), Trace("caffe", {2.5}),
                     Trace("reference", {2.5})}),
              ElementsAre(kWrong, kWrong, kRight, kRight));
}

TEST(LossAgreementTest, TheNativeEngineNeverOutvotesAFramework) {
  // With a vote for native, torch would be right here.
  EXPECT_THAT(Judge({Trace("native", {2.3}), Trace("torch", {2.3}), Trace("mxnet", {2.5})}),
              Each(kWrong));
  // Several versions or options of native have no vote either.
  EXPECT_THAT(Judge({Trace("native", {2.3}, "1"), Trace("native", {2.3}, "2"),
                     Trace("native", {2.3}, "3"), Trace("torch", {2.5}), Trace("mxnet", {2.5})}),
              ElementsAre(kWrong, kWrong, kWrong, kRight, kRight));
}

TEST(LossAgreementTest, AWorkerHasOneVoteInAllItsVersions) {
  EXPECT_THAT(Judge({Trace("torch", {2.3}, "1"), Trace("torch", {2.3}, "2"),
                     Trace("torch", {2.3}, "3"), Trace("mxnet", {2.5}), Trace("caffe", {2.5})}),
              ElementsAre(kWrong, kWrong, kWrong, kRight, kRight));
}

TEST(LossAgreementTest, OneRunOfAWorkerThatDisagreesIsWrongAloneAmongItsRounds) {
  EXPECT_THAT(Judge({Trace("torch", {2.3}), Trace("torch", {2.3}), Trace("torch", {2.9}),
                     Trace("mxnet", {2.3}), Trace("mxnet", {2.3})}),
              ElementsAre(kRight, kRight, kWrong, kRight, kRight));
}

TEST(LossAgreementTest, HalfOfTheFrameworksIsNoMajority) {
  EXPECT_THAT(Judge({Trace("torch", {2.3}), Trace("mxnet", {2.3}), Trace("caffe", {2.5}),
                     Trace("tensorflow", {2.5})}),
              Each(kWrong));
}

TEST(LossAgreementTest, OneWorkerAloneHasNothingToAgreeWith) {
  EXPECT_THAT(Judge({Trace("torch", {2.3}), Trace("torch", {2.5})}), Each(kRight));
  EXPECT_THAT(Judge({}), IsEmpty());
}

// Losses of the reference at batch 4: VGG-16's loss hardly moves in one step; a deep ResNet's moves
// far, which amplifies rounding.
TEST(LossAgreementTest, AMissingUpdateIsFoundWhereTheLossHardlyMoves) {
  const std::vector<double> vgg16 = {6.91415, 6.87313, 6.80703};
  EXPECT_THAT(Judge({Trace("reference", vgg16), Trace("torch", {6.91415, 6.91415, 6.91415})}),
              ElementsAre(kRight, HasSubstr("at step 2")));
  EXPECT_THAT(Judge({Trace("reference", vgg16), Trace("torch", {6.91415, 6.87313, 6.83211})}),
              ElementsAre(kRight, HasSubstr("at step 3")))
      << "an update without momentum";
}

TEST(LossAgreementTest, RoundingThatADeepNetworkAmplifiesAgrees) {
  const std::vector<double> loss = {6.93589, 2.11933, 1.60963}, change = {0.000263, 0.0634, 0.128};
  const std::vector<double> other = {loss[0] + change[0], loss[1] + change[1], loss[2] + change[2]};
  EXPECT_THAT(Judge({Trace("reference", loss), Trace("torch", other)}), Each(kRight));
  EXPECT_THAT(Judge({Trace("reference", loss), Trace("torch", other)}, StepUpdate::kNone),
              ElementsAre(kRight, kWrong))
      << "without updates nothing amplifies it";
}

TEST(LossAgreementTest, TheFarthestLossSoFarIsTheMovement) {
  const LossTrace a = Trace("a", {6, 2, 6}), b = Trace("b", {6, 2, 6});
  EXPECT_DOUBLE_EQ(LossAllowance(a, b, 0, StepUpdate::kUpdates), 6e-3 + 1e-6);
  EXPECT_DOUBLE_EQ(LossAllowance(a, b, 1, StepUpdate::kUpdates), 2e-3 + 1e-6 + 0.4);
  EXPECT_DOUBLE_EQ(LossAllowance(a, b, 2, StepUpdate::kUpdates), 6e-3 + 1e-6 + 0.4);
}

TEST(LossAgreementTest, ShortTracesAreComparedInWhatTheyHave) {
  EXPECT_THAT(Judge({Trace("torch", {2.3}), Trace("mxnet", {2.3, 2.0, 1.5})}), Each(kRight));
  EXPECT_THAT(Judge({Trace("torch", {}), Trace("mxnet", {2.3})}), Each(kRight));
}

TEST(LossAgreementTest, StepsAfterTheThirdAreNotCompared) {
  EXPECT_THAT(Judge({Trace("torch", {2.3, 2, 1, 0.5}), Trace("mxnet", {2.3, 2, 1, 0.1})}),
              Each(kRight));
}

TEST(LossAgreementTest, NanAgreesWithNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Judge({Trace("torch", {nan}), Trace("torch", {2.3}), Trace("mxnet", {2.3})}),
              ElementsAre(kWrong, kRight, kRight));
}

}  // namespace
}  // namespace tench::loss_agreement_test
