// SPDX-License-Identifier: Apache-2.0
// Fault injection for parity: a worker with one known fault at a time must be detected, and the
// faulty layer named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

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

  // By the trial that the table of docs/parity.md states.
  static void ExpectFound(const Verification& seen, const std::string& fault) {
    EXPECT_EQ(Name(seen.outcome), "wrong") << seen.reason;
    EXPECT_THAT(seen.reason, StartsWith(StatedTrials()[fault] + ": ")) << fault;
  }

  // By fault: the rows "| `fault` | what is wrong | trial, … |".
  static std::map<std::string, std::string> StatedTrials() {
    std::map<std::string, std::string> trials;
    std::ifstream document(std::string(TENCH_SOURCE_DIR) + "/docs/parity.md");
    for (std::string line; std::getline(document, line);) {
      if (!line.starts_with("| `")) continue;
      const size_t trial = line.find(" | ", line.find(" | ") + 1) + 3;
      trials[line.substr(3, line.find('`', 3) - 3)] =
          line.substr(trial, line.find_first_of(",; ", trial) - trial);
    }
    return trials;
  }
};

TEST_F(WrongWorkerTest, TheDocumentStatesTheTrialThatFindsEachFault) {
  const auto description = Catalog().Describe(**Catalog().Find("wrong"));
  ASSERT_TRUE(description.ok()) << description.error().message;
  std::vector<std::string> faults = description->options.front().choices, stated;
  for (const char* other : {"none", "observed_memory"}) std::erase(faults, other);
  for (const auto& [fault, trial] : StatedTrials()) stated.push_back(fault);
  EXPECT_THAT(stated, testing::UnorderedElementsAreArray(faults));
}

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
  ExpectFound(seen, "flipped_filter");
  EXPECT_EQ(seen.first_layer, "conv1");
  EXPECT_THAT(seen.reason, HasSubstr("wrong alone: conv1 (conv)"));
}

TEST_F(WrongWorkerTest, MissingAuxiliaryLossIsCaughtAtThatLoss) {
  const Verification seen = Verify(SmallBranches(), "no_auxiliary_loss");
  ExpectFound(seen, "no_auxiliary_loss");
  EXPECT_EQ(seen.first_layer, "aux_loss");
}

TEST_F(WrongWorkerTest, MixedUpPoolRoundingIsCaughtAtThePool) {
  const Verification seen = Verify(SizeTolerant(), "pool_rounding");
  ExpectFound(seen, "pool_rounding");
  EXPECT_EQ(seen.first_layer, "shrink");
  EXPECT_THAT(seen.reason, HasSubstr("the first layer whose output differs is shrink"));
}

TEST_F(WrongWorkerTest, ForgottenDilationIsCaughtAtItsConvolution) {
  const Verification seen = Verify(SmallBranches(), "no_dilation");
  ExpectFound(seen, "no_dilation");
  EXPECT_EQ(seen.first_layer, "block/left");
  EXPECT_THAT(seen.reason, HasSubstr("wrong alone: block/left (conv)"));
}

TEST_F(WrongWorkerTest, BiasedRunningVarianceIsCaughtInTheState) {
  const Verification seen = Verify(SmallBranches(), "biased_variance");
  ExpectFound(seen, "biased_variance");
  EXPECT_THAT(seen.reason, HasSubstr("state of block/left_bn.running_var"));
  EXPECT_THAT(seen.reason, HasSubstr("the fault is in the running statistics"));
}

TEST_F(WrongWorkerTest, LstmWithTwoTrainedBiasesIsCaughtAfterUpdates) {
  const Verification seen = Verify(SmallLstm(), "two_biases");
  ExpectFound(seen, "two_biases");
  EXPECT_THAT(seen.reason, HasSubstr("of lstm.bias"));
  EXPECT_THAT(seen.reason, HasSubstr("the fault is in the optimizer's update"));
}

TEST_F(WrongWorkerTest, MomentumOutsideTheRateIsCaughtByTheRecomputedUpdate) {
  for (const Graph& network : {SmallLenet(), SmallAutoencoder()}) {
    const Verification seen = Verify(network, "outer_rate");
    ExpectFound(seen, "outer_rate");
    EXPECT_THAT(seen.reason, HasSubstr("the fault is in the optimizer's update")) << network.name;
    EXPECT_EQ(seen.first_layer, "");
  }
}

TEST_F(WrongWorkerTest, GradientThatIsNeverComputedIsCaught) {
  const Verification seen = Verify(SmallAutoencoder(), "dead_gradient");
  ExpectFound(seen, "dead_gradient");
  EXPECT_THAT(seen.reason, AnyOf(HasSubstr("encode.bias"), HasSubstr("decode.bias")));
}

TEST_F(WrongWorkerTest, DropoutLeftOutIsCaught) {
  const Verification seen = Verify(SmallBranches(), "no_dropout");
  ExpectFound(seen, "no_dropout");
  EXPECT_THAT(seen.reason,
              StartsWith("dropout: dropout-0.4: a survivor is scaled by 1 instead of"));
}

TEST_F(WrongWorkerTest, UnscaledDropoutIsCaught) {
  const Verification seen = Verify(SmallBranches(), "unscaled_dropout");
  ExpectFound(seen, "unscaled_dropout");
  EXPECT_THAT(seen.reason,
              StartsWith("dropout: dropout-0.4: a survivor is scaled by 1 instead of"));
}

TEST_F(WrongWorkerTest, BackwardPassWithoutTheMaskIsCaught) {
  const Verification seen = Verify(SmallBranches(), "unmasked_dropout");
  ExpectFound(seen, "unmasked_dropout");
  EXPECT_THAT(seen.reason, HasSubstr("the backward pass does not use the forward mask"));
}

TEST_F(WrongWorkerTest, MasksThatRepeatAreCaught) {
  const Verification steps = Verify(SmallBranches(), "repeated_mask");
  ExpectFound(steps, "repeated_mask");
  EXPECT_THAT(steps.reason, HasSubstr("the masks of two steps agree"));
  const Verification samples = Verify(SmallBranches(), "shared_mask");
  ExpectFound(samples, "shared_mask");
  EXPECT_THAT(samples.reason, HasSubstr("the masks of samples 1 and 2 agree"));
}

TEST_F(WrongWorkerTest, ATimedBuildWithNothingToCompareItWithIsUnverified) {
  Subject subject = SubjectOf(SmallLenet(), "observed_memory");
  subject.job.batch = 8;
  const auto seen =
      Verifier(Catalog(), Answers(), StopToken())
          .VerifyTimed("wrong", {"small_lenet", ""}, subject, [](const std::string&) {});
  ASSERT_TRUE(seen.ok()) << seen.error().message;
  EXPECT_EQ(Name(seen->outcome), "ok");
  EXPECT_FALSE(seen->verified());
  EXPECT_THAT(seen->reason, StartsWith("the observing build at batch 8: timed: out of memory"));
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
  // The ops trial discriminates the gradient of each layer alone, which does not count.
  EXPECT_THAT(seen.undiscriminated, testing::IsSupersetOf({"the gradient of left.weight",
                                                           "the gradient of right.weight"}));
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
  const char *fault, *words;
};

TEST_F(DeepWrongWorkerTest, EveryFaultIsFoundAndNothingElse) {
  const Verification right = Verify(DeepNetwork(), "none");
  EXPECT_TRUE(right.verified()) << Name(right.outcome) << ": " << right.reason;
  EXPECT_LT(right.worst, 0.5) << right.worst_tensor;
  for (const DeepFault& one :
       {DeepFault{"no_decay", "the optimizer's update"},
        DeepFault{"wrong_momentum", "the optimizer's update"}, DeepFault{"no_bias_update", "bias"},
        DeepFault{"dropped_shortcut", "stage3/block4/add"},
        DeepFault{"swapped_shortcut", "stage3/block4/add"},
        DeepFault{"frozen_statistics", "stage3/block4/bn2.running_"},
        DeepFault{"zero_layer_gradient", "stage2/block2/conv2.weight"},
        DeepFault{"frozen_inference", "the fault is in inference"},
        DeepFault{"shifted_logits", "the fault is in inference"},
        DeepFault{"unmasked_dropout", "forward mask"}, DeepFault{"repeated_mask", "two steps"}}) {
    SCOPED_TRACE(one.fault);
    const Verification seen = Verify(DeepNetwork(), one.fault);
    ExpectFound(seen, one.fault);
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
    ExpectFound(seen, one.fault);
    EXPECT_THAT(seen.reason, HasSubstr("the observing build at batch 3"));
    const Verification right = VerifyTimed(DeepNetwork(), "none", one.phase);
    EXPECT_TRUE(right.verified()) << right.reason;
  }
}

}  // namespace
}  // namespace tench::wrong_worker_test
