// SPDX-License-Identifier: Apache-2.0
#include "parity/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tench::comparison_test {
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

TEST(ComparisonTest, AllowsAnOpsGradientTwiceAsMuchAsItsOutput) {
  const auto ratio = [](const std::string& key, TrialKind kind) {
    return Compare(kind, Of({{key, Tensor(key, {3, 4})}}), Of({{key, Tensor(key, {3, 4.00005f})}}))
        .front()
        .ratio();
  };
  EXPECT_NEAR(ratio("outputs/a", TrialKind::kOps), 1, 0.01);
  EXPECT_NEAR(ratio("gradients/a", TrialKind::kOps), 0.5, 0.01);
  EXPECT_NEAR(ratio("gradients/a", TrialKind::kGradient), 1, 0.01);
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
               {"gradients/tiny", Tensor("gradients/tiny", {tiny, tiny}, 1e-9)}});
  };
  const std::vector<Deviation> all = Compare(TrialKind::kGradient, build(1e-9f), build(5e-9f));
  EXPECT_LT(Find(all, "gradients of tiny").ratio(), 1);
  EXPECT_GT(
      Find(Compare(TrialKind::kGradient, build(1e-9f), build(3e-3f)), "gradients of tiny").ratio(),
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
  EXPECT_NEAR(ratio(1), 1, 0.01);
  EXPECT_NEAR(ratio(1000), 1, 0.01);
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

TEST(ComparisonTest, BoundsSampledElementsOfAnOpOneByOne) {
  std::vector<float> values(100'000, 1.0f);
  const auto answer = [&](float sample) {
    TensorAnswer tensor = Tensor("outputs/a", values);
    tensor.samples = {1, sample};
    return Of({{"outputs/a", tensor}});
  };
  const auto element = [&](float sample) {
    return Find(Compare(TrialKind::kOps, answer(1), answer(sample)),
                "an element of the outputs of a")
        .ratio();
  };
  EXPECT_EQ(element(1), 0);
  EXPECT_LT(element(1.00007f), 1);
  // The norm of 100,000 elements would allow a single one to differ by 0.003.
  EXPECT_GT(element(1.0001f), 1);
}

TEST(ComparisonTest, AConditionedNetworkMayDifferByAThousandthAtMost) {
  const auto allowed = [](double change) {
    const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {3, 4}, change)}});
    return Compare(TrialKind::kSteady, reference, reference).front().allowance / 5;
  };
  EXPECT_NEAR(allowed(5e-6), 2e-4, 1e-9);  // the tolerance of a few tens of ops
  EXPECT_NEAR(allowed(2e-4), 4e-4, 1e-9);
  EXPECT_NEAR(allowed(5e-3), 2e-3, 1e-9);  // twice the change, if that is more
  EXPECT_NEAR(allowed(2e-3), 1e-3, 1e-9);
}

TEST(ComparisonTest, AToleranceOfMoreThanATenthOfTheNormDoesNotDiscriminate) {
  const auto discriminates = [](double change) {
    const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {3, 4}, change)}});
    return Compare(TrialKind::kGradient, reference, reference).front().discriminates();
  };
  EXPECT_TRUE(discriminates(0.049));
  EXPECT_FALSE(discriminates(0.051));
}

TEST(ComparisonTest, RoundingNoiseIsDiscriminatedByItsGroup) {
  const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {1, 1})},
                               {"gradients/b", Tensor("gradients/b", {1, 1})},
                               {"gradients/zero", Tensor("gradients/zero", {1e-9f, 0}, 1e-8)}});
  const std::vector<Deviation> all = Compare(TrialKind::kSteady, reference, reference);
  EXPECT_TRUE(Find(all, "gradients of zero").discriminates());
  EXPECT_NEAR(Find(all, "gradients of zero").norm, std::sqrt(2), 1e-6);
}

TEST(ComparisonTest, AChaoticTensorOfTheUsualSizeIsNotDiscriminated) {
  const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {1, 1})},
                               {"gradients/b", Tensor("gradients/b", {1, 1})},
                               {"gradients/tie", Tensor("gradients/tie", {1, 1}, 0.7)}});
  const std::vector<Deviation> all = Compare(TrialKind::kSteady, reference, reference);
  EXPECT_FALSE(Find(all, "gradients of tie").discriminates());
}

TEST(ComparisonTest, ATimedBuildGetsTheReferencesRelativeTolerance) {
  const Answer reference = Of({{"gradients/a", Tensor("gradients/a", {3, 4}, 5e-5)}});
  const Answer observed = Of({{"gradients/a", Tensor("gradients/a", {30, 40})}});
  const auto ratio = [&](float second) {
    return CompareBuilds(TrialKind::kSteady, reference, observed,
                         Of({{"gradients/a", Tensor("gradients/a", {30, second})}}))
        .front()
        .ratio();
  };
  EXPECT_EQ(ratio(40), 0);
  EXPECT_LT(ratio(40.009f), 1);
  EXPECT_GT(ratio(40.011f), 1);
  EXPECT_TRUE(
      std::isinf(CompareBuilds(TrialKind::kSteady, reference, observed, Answer{}).front().ratio()));
}

// Such as the shift of a batch norm before another one, whose gradient nearly cancels.
TEST(ComparisonTest, ATimedBuildIsAlwaysDiscriminated) {
  TensorAnswer tensor = Tensor("parameters/a", {3, 4}, 0.05);
  tensor.terms = 10'000;
  const Answer reference = Of({{"parameters/a", tensor}});
  EXPECT_FALSE(Compare(TrialKind::kTrain, reference, reference).front().discriminates());
  const Deviation timed = CompareBuilds(TrialKind::kTrain, reference, reference, reference).front();
  EXPECT_TRUE(timed.discriminates());
  EXPECT_NEAR(timed.allowance, 0.5, 1e-9);
}

}  // namespace
}  // namespace tench::comparison_test
