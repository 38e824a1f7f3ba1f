// SPDX-License-Identifier: Apache-2.0
// Fault injection for parity: a worker with one known fault at a time must be detected, and the
// faulty layer named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "net/builder.h"
#include "net/zoo/families.h"
#include "run/verify/verifier.h"
#include "small_networks.h"

namespace tench::wrong_worker_test {
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

// ResNet-50 with all its layers, a quarter of its channels, on small images, and with a dropout.
Graph DeepNetwork() {
  Graph network = BuildResnet({"tiny", 3, 8, 8, 0, 0, 10}, 50);
  network.name = "deep";
  for (Layer& layer : network.layers) {
    if (auto* conv = std::get_if<Convolution>(&layer.op)) conv->out_channels /= 4;
  }
  const auto fc = std::find_if(network.layers.begin(), network.layers.end(),
                               [](const Layer& layer) { return layer.name == "fc"; });
  fc->inputs = {"drop"};
  network.layers.insert(fc, {"drop", Dropout{0.4}, {"flatten"}, {}, {}});
  return network;
}

class WrongWorkerTest : public testing::Test {
 protected:
  static WorkerCatalog& Catalog() {
    static WorkerCatalog catalog = WorkerCatalog::Discover({TENCH_WRONG_DIR, TENCH_BIN_DIR});
    return catalog;
  }
  static ReferenceAnswers& Answers() {
    static ReferenceAnswers answers(Catalog(), {}, StopToken());
    return answers;
  }
  static Subject SubjectOf(const Graph& network, const std::string& fault) {
    Subject subject;
    subject.job.network = network;
    subject.job.options = {{"fault", fault}};
    subject.job.threads = 2;
    subject.batch = 6;
    return subject;
  }
  static Verification Verify(const Graph& network, const std::string& fault) {
    auto verification = Verifier(Catalog(), Answers(), StopToken())
                            .Verify("wrong", {network.name, ""}, SubjectOf(network, fault),
                                    [](const std::string&) {});
    EXPECT_TRUE(verification.ok()) << verification.error().message;
    return verification.ok() ? *std::move(verification) : Verification{};
  }
  static Verification VerifyTimed(const Graph& network, const std::string& fault, Phase phase) {
    Subject subject = SubjectOf(network, fault);
    subject.job.batch = 3;
    subject.job.phase = phase;
    auto verification =
        Verifier(Catalog(), Answers(), StopToken())
            .VerifyTimed("wrong", {network.name, ""}, subject, [](const std::string&) {});
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
    EXPECT_TRUE(seen.verified()) << network.name << ": " << seen.reason;
    EXPECT_LT(seen.worst, 0.5) << network.name << ": " << seen.worst_tensor;
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
  EXPECT_THAT(seen.reason, HasSubstr("of lstm.bias"));
  EXPECT_THAT(seen.reason, HasSubstr("the fault is in the optimizer's update"));
}

TEST_F(WrongWorkerTest, MomentumOutsideTheRateIsCaughtByTheRecomputedUpdate) {
  for (const Graph& network : {SmallLenet(), SmallAutoencoder()}) {
    const Verification seen = Verify(network, "outer_rate");
    ExpectWrong(seen);
    EXPECT_THAT(seen.reason, StartsWith("steady: the ")) << network.name;
    EXPECT_THAT(seen.reason, HasSubstr("the fault is in the optimizer's update")) << network.name;
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
  EXPECT_THAT(seen.reason,
              StartsWith("dropout: dropout-0.4: a survivor is scaled by 1 instead of"));
}

TEST_F(WrongWorkerTest, UnscaledDropoutIsCaught) {
  const Verification seen = Verify(SmallBranches(), "unscaled_dropout");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason,
              StartsWith("dropout: dropout-0.4: a survivor is scaled by 1 instead of"));
}

TEST_F(WrongWorkerTest, BackwardPassWithoutTheMaskIsCaught) {
  const Verification seen = Verify(SmallBranches(), "unmasked_dropout");
  ExpectWrong(seen);
  EXPECT_THAT(seen.reason, StartsWith("dropout: "));
  EXPECT_THAT(seen.reason, HasSubstr("the backward pass does not use the forward mask"));
}

TEST_F(WrongWorkerTest, MasksThatRepeatAreCaught) {
  const Verification steps = Verify(SmallBranches(), "repeated_mask");
  ExpectWrong(steps);
  EXPECT_THAT(steps.reason, HasSubstr("the masks of two steps agree"));
  const Verification samples = Verify(SmallBranches(), "shared_mask");
  ExpectWrong(samples);
  EXPECT_THAT(samples.reason, HasSubstr("the masks of samples 1 and 2 agree"));
}

// Both inputs of the maximum are equal, so that rounding chooses where its gradient goes.
TEST_F(WrongWorkerTest, ATensorThatNoTrialDiscriminatesLeavesTheNetworkUnverified) {
  GraphBuilder b("tie");
  const ParameterRule constant{{FillKind::kConstant, 0.1, 0}};
  b.Append("data", Input{InputRole::kData, {16}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("left", FullyConnected{5}, {"data"}, constant);
  b.Append("right", FullyConnected{5}, {"data"}, constant);
  b.Append("max", Maximum{}, {"left", "right"});
  b.Append("loss", SoftmaxCrossEntropy{}, {"max", "label"});
  const Verification seen = Verify(b.Take(), "none");
  EXPECT_EQ(Name(seen.outcome), "ok") << seen.reason;
  EXPECT_FALSE(seen.verified());
  EXPECT_THAT(seen.reason, HasSubstr("no trial discriminates the gradient of "));
}

// The reference's answers on a deep network take seconds, so that one test shares them.
class DeepWrongWorkerTest : public WrongWorkerTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "naive loops over ResNet-50 take minutes under a sanitizer";
#endif
  }
};

struct DeepFault {
  const char *fault, *trial, *words;
};

TEST_F(DeepWrongWorkerTest, EveryFaultIsFoundAndNothingElse) {
  const Verification right = Verify(DeepNetwork(), "none");
  EXPECT_TRUE(right.verified()) << Name(right.outcome) << ": " << right.reason;
  EXPECT_LT(right.worst, 0.5) << right.worst_tensor;
  for (const DeepFault& one :
       {DeepFault{"no_decay", "steady: the ", "the optimizer's update"},
        DeepFault{"wrong_momentum", "steady: the ", "the optimizer's update"},
        DeepFault{"no_bias_update", "steady: the ", "bias"},
        DeepFault{"dropped_shortcut", "", "stage3/block4/add"},
        DeepFault{"swapped_shortcut", "", "stage3/block4/add"},
        DeepFault{"frozen_statistics", "", "stage3/block4/bn2.running_"},
        DeepFault{"zero_layer_gradient", "", "stage2/block2/conv2.weight"},
        DeepFault{"frozen_inference", "forward: ", "the fault is in inference"},
        DeepFault{"unmasked_dropout", "dropout: ", "forward mask"},
        DeepFault{"repeated_mask", "dropout: ", "two steps"}}) {
    SCOPED_TRACE(one.fault);
    const Verification seen = Verify(DeepNetwork(), one.fault);
    ExpectWrong(seen);
    EXPECT_THAT(seen.reason, StartsWith(one.trial));
    EXPECT_THAT(seen.reason, HasSubstr(one.words));
  }
}

struct TimedFault {
  const char* fault;
  Phase phase;
};

TEST_F(DeepWrongWorkerTest, FaultsOfTheTimedBuildAloneAreFound) {
  for (const TimedFault& one :
       {TimedFault{"timed_decay", Phase::kTrain}, TimedFault{"timed_gradient", Phase::kTrain},
        TimedFault{"timed_gradient", Phase::kGradient},
        TimedFault{"timed_inference", Phase::kForward}}) {
    SCOPED_TRACE(fmt::format("{}, phase {}", one.fault, Name(one.phase)));
    const Verification seen = VerifyTimed(DeepNetwork(), one.fault, one.phase);
    ExpectWrong(seen);
    EXPECT_THAT(seen.reason, StartsWith("timed: "));
    EXPECT_THAT(seen.reason, HasSubstr("the observing build at batch 3"));
    const Verification right = VerifyTimed(DeepNetwork(), "none", one.phase);
    EXPECT_TRUE(right.verified()) << right.reason;
  }
}

}  // namespace
}  // namespace tench::wrong_worker_test
