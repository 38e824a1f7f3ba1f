// SPDX-License-Identifier: Apache-2.0
#include "parity/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "net/builder.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

TensorAnswer Tensor(const std::string& key, std::vector<float> values, double change = 0) {
  TensorAnswer answer;
  answer.group = "gradients";
  answer.elements = static_cast<int64_t>(values.size());
  answer.sketch = MakeSketch(key, values);
  answer.scale = answer.sketch.norm;
  answer.change = change;
  return answer;
}

Answer Of(std::vector<std::pair<std::string, TensorAnswer>> tensors) {
  Answer answer;
  for (auto& [key, tensor] : tensors) {
    answer.order.push_back(key);
    answer.tensors[key] = tensor;
  }
  return answer;
}

const Deviation& Find(const std::vector<Deviation>& all, const std::string& what) {
  for (const Deviation& one : all)
    if (one.what == what) return one;
  ADD_FAILURE() << "no " << what;
  return all.front();
}

TEST(ComparisonTest, AllowsAnOpAHundredThousandthOfItsNorm) {
  const Answer reference = Of({{"outputs/a", Tensor("outputs/a", {3, 4})}});
  const auto ratio = [&](float second) {
    return Compare(TrialKind::kOps, reference,
                   Of({{"outputs/a", Tensor("outputs/a", {3, second})}}))
        .front()
        .ratio();
  };
  EXPECT_EQ(ratio(4), 0);
  EXPECT_LT(ratio(4.00004f), 1);
  EXPECT_GT(ratio(4.00006f), 1);
}

TEST(ComparisonTest, AllowsAWholeNetworkTenTimesWhatJitterDoes) {
  const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {3, 4}, 0.01)}});
  const auto ratio = [&](float second) {
    return Compare(TrialKind::kGradient, reference,
                   Of({{"gradients/a", Tensor("gradients/a", {3, second})}}))
        .front()
        .ratio();
  };
  EXPECT_NEAR(ratio(4.05f), 0.5, 1e-3);
  EXPECT_NEAR(ratio(4.2f), 2, 1e-3);
}

TEST(ComparisonTest, AllowsALossNearZeroWhatF32CanTell) {
  const auto ratio = [](double expected, double got) {
    Answer reference, worker;
    reference.losses = {expected};
    reference.loss_changes = {0};
    worker.losses = {got};
    return Compare(TrialKind::kTrain, reference, worker).front().ratio();
  };
  EXPECT_LT(ratio(5e-8, 0), 1);
  EXPECT_GT(ratio(1e-6, 0), 1);
  EXPECT_GT(ratio(2, 2.00003), 1);
}

TEST(ComparisonTest, JudgesATensorOfNearlyNothingByItsGroup) {
  const auto build = [](float tiny) {
    return Of({{"gradients/big", Tensor("gradients/big", {1, 1, 1, 1})},
               {"gradients/big2", Tensor("gradients/big2", {1, 1, 1, 1})},
               {"gradients/tiny", Tensor("gradients/tiny", {tiny, tiny})}});
  };
  const std::vector<Deviation> all = Compare(TrialKind::kGradient, build(1e-9f), build(5e-9f));
  EXPECT_LT(Find(all, "gradients of tiny").ratio(), 1);
  EXPECT_GT(
      Find(Compare(TrialKind::kGradient, build(1e-9f), build(1e-4f)), "gradients of tiny").ratio(),
      1);
}

TEST(ComparisonTest, AllowsASumOfVeryManyTermsItsRounding) {
  Answer reference = Of({{"gradients/a", Tensor("gradients/a", {3, 4})}});
  const auto ratio = [&](int64_t terms) {
    reference.tensors.at("gradients/a").terms = terms;
    return Compare(TrialKind::kOps, reference,
                   Of({{"gradients/a", Tensor("gradients/a", {3, 4.0001f})}}))
        .front()
        .ratio();
  };
  EXPECT_NEAR(ratio(1), 2, 0.01);
  EXPECT_NEAR(ratio(1000), 2, 0.01);
  EXPECT_LT(ratio(50176), 1);
}

TEST(ComparisonTest, AMissingTensorAndANanAreInfinitelyWrong) {
  const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {3, 4}, 100)}});
  EXPECT_TRUE(std::isinf(Compare(TrialKind::kGradient, reference, Answer{}).front().ratio()));
  const Answer nan =
      Of({{"gradients/a", Tensor("gradients/a", {3, std::numeric_limits<float>::quiet_NaN()})}});
  EXPECT_TRUE(std::isinf(Compare(TrialKind::kGradient, reference, nan).front().ratio()));
}

TEST(ComparisonTest, ComparesLossesStepByStep) {
  Answer reference, worker;
  reference.losses = worker.losses = {2, 1};
  reference.loss_changes = {0, 0.01};
  worker.losses = {2.0001, 1.05};
  const std::vector<Deviation> all = Compare(TrialKind::kTrain, reference, worker);
  EXPECT_NEAR(Find(all, "the loss of step 1").ratio(), 0.001, 1e-4);
  EXPECT_NEAR(Find(all, "the loss of step 2").ratio(), 0.5, 0.01);
}

TEST(ComparisonTest, AnswersSurviveTheirJson) {
  Answer answer = Of({{"gradients/b", Tensor("gradients/b", {3, 4}, 0.5)},
                      {"gradients/a", Tensor("gradients/a", {1, 2, 3})}});
  answer.losses = {1.5};
  answer.loss_changes = {1e-7};
  const auto read = AnswerFromJson(ToJson(answer), "test");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->order, answer.order);
  EXPECT_EQ(read->losses, answer.losses);
  EXPECT_EQ(read->tensors.at("gradients/b").change, 0.5);
  for (const Deviation& one : Compare(TrialKind::kGradient, *read, answer))
    EXPECT_LT(one.ratio(), 0.1) << one.what;
}

class DropoutTest : public testing::Test {
 protected:
  std::string Judge(const std::function<float(size_t)>& value) {
    Subject subject;
    GraphBuilder b("n");
    b.Append("d", Dropout{0.25}, {});
    subject.network = b.Take();
    const Trial trial = *MakeTrial(subject, TrialKind::kDropout);
    std::filesystem::create_directories(folder_.path() / "outputs");
    std::vector<float> values(160000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = value(i);
    EXPECT_TRUE(WriteRaw(TensorPath(folder_.path(), "outputs", "dropout-0.25"),
                         std::span<const float>(values))
                    .ok());
    return JudgeDropout(trial, folder_.path());
  }
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-dropout-");
};

TEST_F(DropoutTest, AcceptsTheRightShareAndScale) {
  EXPECT_EQ(Judge([](size_t i) { return i % 4 == 0 ? 0.0f : static_cast<float>(1 / 0.75); }), "");
}
TEST_F(DropoutTest, RefusesWhatIsLeftOut) {
  EXPECT_NE(Judge([](size_t) { return 1.0f; }).find("a share of 0"), std::string::npos);
}
TEST_F(DropoutTest, RefusesAnotherShare) {
  EXPECT_NE(Judge([](size_t i) {
              return i % 3 == 0 ? 0.0f : static_cast<float>(1 / 0.75);
            }).find("a share of"),
            std::string::npos);
}

}  // namespace
}  // namespace tench
