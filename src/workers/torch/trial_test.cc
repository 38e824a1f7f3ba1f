// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/trial.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "worker/op_cases.h"

namespace tench::pytorch {
namespace {

TypedGraph Images() {
  return *Infer(OpChain({3, 6, 6}).Then("conv", Convolution{4, {3, 3}}).Classify(), 2);
}
TypedGraph Vectors() { return *Infer(OpChain({6}).Then("fc", FullyConnected{4}).Classify(), 2); }

TEST(TorchTrialTest, OptionsAndKnobsAreTheSameThing) {
  const Knobs knobs = *KnobsOf({{"layout", "channels_last"}, {"kernels", "own"}});
  EXPECT_TRUE(knobs.channels_last);
  EXPECT_FALSE(knobs.onednn);
  EXPECT_FALSE(knobs.keep_memory);
  EXPECT_EQ(Names(knobs),
            (std::map<std::string, std::string>{
                {"layout", "channels_last"}, {"kernels", "own"}, {"memory", "default"}}));
  EXPECT_EQ(*KnobsOf(Names(knobs)), knobs);
}

TEST(TorchTrialTest, TheDefaultsThatAreDescribedAreThoseThatAreUsed) {
  std::map<std::string, std::string> described;
  for (const WorkerOption& option : KnobOptions()) {
    described[option.name] = option.fallback;
    EXPECT_THAT(option.choices, testing::Contains(option.fallback));
  }
  EXPECT_EQ(described, Names(Knobs()));
}

TEST(TorchTrialTest, AValueThatIsNoChoiceIsRefusedByName) {
  const Result<Knobs> knobs = KnobsOf({{"memory", "lots"}});
  ASSERT_FALSE(knobs.ok());
  EXPECT_EQ(knobs.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(knobs.error().message, "option memory is 'lots'; it must be default or kept");
}

TEST(TorchTrialTest, TriesEveryCombinationThatTheNetworkCanFeelOnce) {
  const std::vector<Knobs> all = Candidates(Images(), {}, {});
  EXPECT_EQ(all.size(), 8u);
  EXPECT_EQ(all.front(), Knobs());
  EXPECT_EQ(std::set<Knobs>(all.begin(), all.end()).size(), 8u);
  // Without images the layout, without convolutions and LSTMs the kernels make no difference.
  const std::vector<Knobs> few = Candidates(Vectors(), {}, {});
  EXPECT_EQ(few, (std::vector<Knobs>{{false, true, false}, {false, true, true}}));
}

TEST(TorchTrialTest, LeavesWhatTheUserHasSet) {
  BuildOptions options;
  options.options = {{"layout", "channels_last"}, {"memory", "default"}};
  const Knobs base = *KnobsOf(options.options);
  EXPECT_EQ(Candidates(Images(), options, base),
            (std::vector<Knobs>{{true, true, false}, {true, false, false}}));
}

TEST(TorchTrialTest, ApplySwitchesOneDnn) {
  Apply({false, false, false});
  EXPECT_FALSE(at::globalContext().userEnabledMkldnn());
  Apply({});
  EXPECT_TRUE(at::globalContext().userEnabledMkldnn());
}

TEST(TorchTrialTest, ReportsEveryCandidateAndTheWinner) {
  BuildOptions options;
  options.options = {{"kernels", "onednn"}, {"memory", "default"}};
  const Result<TrialResult> trial = RunTrial(Images(), options, {}, c10::kCPU);
  ASSERT_TRUE(trial.ok()) << trial.error().message;
  EXPECT_EQ(trial->choices.at("layout"), Names(trial->best).at("layout"));
  EXPECT_EQ(trial->choices.at("kernels"), "onednn");
  for (const std::string layout : {"default", "channels_last"})
    EXPECT_TRUE(
        trial->choices.contains("trial kernels=onednn,layout=" + layout + ",memory=default"))
        << layout;
}

}  // namespace
}  // namespace tench::pytorch
