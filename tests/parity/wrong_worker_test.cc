// SPDX-License-Identifier: Apache-2.0
// Fault injection for parity: a worker with one known fault at a time must be detected, and the
// faulty layer named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"
#include "run/verify/verifier.h"
#include "small_networks.h"

namespace tench {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

// The layers after the pool accept every output size, so a fault in its rounding breaks no shape.
Graph SizeTolerant() {
  const ParameterRule xavier{{FillKind::kXavier, 0, 0}};
  GraphBuilder b("size_tolerant");
  b.Append("data", Input{InputRole::kData, {3, 12, 12}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("look", Convolution{6, {3, 3}, {1, 1}, {1, 1}}, {"data"}, xavier);
  b.Append("shrink", Pooling{PoolMode::kMax, {3, 3}, {2, 2}, {0, 0}, true}, {"look"});
  b.Append("again", Convolution{8, {3, 3}}, {"shrink"}, xavier);
  b.Append("mean", Pooling{PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true}, {"again"});
  b.Append("flat", Flatten{}, {"mean"});
  b.Append("fc", FullyConnected{5}, {"flat"}, xavier);
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

class WrongWorkerTest : public testing::Test {
 protected:
  static Verification Verify(const Graph& network, const std::string& fault) {
    static WorkerCatalog catalog = WorkerCatalog::Discover({TENCH_WRONG_DIR, TENCH_BIN_DIR});
    static ReferenceAnswers answers(catalog, {}, StopToken());
    Subject subject;
    subject.network = network;
    subject.batch = 6;
    subject.options = {{"fault", fault}};
    auto verification =
        Verifier(catalog, answers, StopToken())
            .Verify("wrong", {network.name, ""}, subject, [](const std::string&) {});
    EXPECT_TRUE(verification.ok()) << verification.error().message;
    return verification.ok() ? *std::move(verification) : Verification{};
  }

  static void ExpectWrong(const Verification& seen) {
    EXPECT_EQ(Name(seen.outcome), "wrong") << seen.reason;
  }
};

TEST_F(WrongWorkerTest, IsVerifiedWithoutAFault) {
  for (const Graph& network : SmallNetworks()) {
    const Verification seen = Verify(network, "none");
    EXPECT_EQ(Name(seen.outcome), "ok") << network.name << ": " << seen.reason;
    EXPECT_LT(seen.worst, 0.01) << network.name << ": " << seen.worst_tensor;
    EXPECT_NE(seen.version, "");
  }
}

TEST_F(WrongWorkerTest, FlippedFilterIsCaughtAtTheFirstConvolution) {
  const Verification seen = Verify(SmallLenet(), "flipped_filter");
  ExpectWrong(seen);
  EXPECT_EQ(seen.first_layer, "conv1");
  EXPECT_THAT(seen.reason, HasSubstr("wrong alone: conv1 (conv)"));
}

TEST_F(WrongWorkerTest, MissingAuxiliaryLossIsCaughtAtThatLoss) {
  const Verification seen = Verify(SmallBranches(), "no_auxiliary_loss");
  ExpectWrong(seen);
  EXPECT_EQ(seen.first_layer, "aux_loss");
}

TEST_F(WrongWorkerTest, MixedUpPoolRoundingIsCaughtAtThePool) {
  const Verification seen = Verify(SizeTolerant(), "pool_rounding");
  ExpectWrong(seen);
  EXPECT_EQ(seen.first_layer, "shrink");
  EXPECT_THAT(seen.reason, HasSubstr("the first layer whose output differs is shrink"));
}

TEST_F(WrongWorkerTest, ForgottenDilationIsCaughtAtItsConvolution) {
  const Verification seen = Verify(SmallBranches(), "no_dilation");
  ExpectWrong(seen);
  EXPECT_EQ(seen.first_layer, "block/left");
  EXPECT_THAT(seen.reason, HasSubstr("wrong alone: block/left (conv)"));
}

TEST_F(WrongWorkerTest, BiasedRunningVarianceIsCaughtInTheState) {
  const Verification seen = Verify(SmallBranches(), "biased_variance");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason, HasSubstr("state of block/left_bn.running_var"));
  EXPECT_THAT(seen.reason, HasSubstr("the fault is in the running statistics"));
}

TEST_F(WrongWorkerTest, LstmWithTwoTrainedBiasesIsCaughtAfterUpdates) {
  const Verification seen = Verify(SmallLstm(), "two_biases");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason, StartsWith("train: parameters of lstm.bias"));
  EXPECT_THAT(seen.reason, HasSubstr("the fault is in the update"));
}

TEST_F(WrongWorkerTest, MomentumOutsideTheRateIsCaughtAfterTheRateDrops) {
  for (const Graph& network : {SmallLenet(), SmallAutoencoder()}) {
    const Verification seen = Verify(network, "outer_rate");
    ExpectWrong(seen);
    EXPECT_THAT(seen.reason, StartsWith("train: ")) << network.name;
    EXPECT_THAT(seen.reason, HasSubstr("the fault is in the update")) << network.name;
    EXPECT_EQ(seen.first_layer, "");
  }
}

TEST_F(WrongWorkerTest, GradientThatIsNeverComputedIsCaught) {
  const Verification seen = Verify(SmallAutoencoder(), "dead_gradient");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason, AnyOf(HasSubstr("encode.bias"), HasSubstr("decode.bias")));
}

TEST_F(WrongWorkerTest, DropoutLeftOutIsCaught) {
  const Verification seen = Verify(SmallBranches(), "no_dropout");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason, StartsWith("dropout: dropout-0.4: a share of 0.0000 is zero"));
}

TEST_F(WrongWorkerTest, UnscaledDropoutIsCaught) {
  const Verification seen = Verify(SmallBranches(), "unscaled_dropout");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason,
              StartsWith("dropout: dropout-0.4: a survivor is scaled by 1 instead of"));
}

}  // namespace
}  // namespace tench
