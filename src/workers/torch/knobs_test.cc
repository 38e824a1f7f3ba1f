// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/knobs.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tench::pytorch::knobs_test {
namespace {

TEST(TorchKnobsTest, OptionsAndKnobsAreTheSameThing) {
  const Knobs knobs = *KnobsOf({{"layout", "channels_last"}, {"kernels", "own"}});
  EXPECT_TRUE(knobs.channels_last);
  EXPECT_FALSE(knobs.onednn);
  EXPECT_FALSE(knobs.keep_memory);
  EXPECT_EQ(Names(knobs), (std::map<std::string, std::string>{{"layout", "channels_last"},
                                                              {"kernels", "own"},
                                                              {"memory", "default"},
                                                              {"module", "eager"}}));
  EXPECT_EQ(*KnobsOf(Names(knobs)), knobs);
}

TEST(TorchKnobsTest, TheDefaultsThatAreDescribedAreThoseThatAreUsed) {
  std::map<std::string, std::string> described;
  for (const WorkerOption& option : KnobOptions()) {
    described[option.name] = option.fallback;
    EXPECT_THAT(option.choices, testing::Contains(option.fallback));
  }
  EXPECT_EQ(described, Names(Knobs()));
}

TEST(TorchKnobsTest, AValueThatIsNoChoiceIsRefusedByName) {
  const Result<Knobs> knobs = KnobsOf({{"memory", "lots"}});
  ASSERT_FALSE(knobs.ok());
  EXPECT_EQ(knobs.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(knobs.error().message, "option memory is 'lots'; it must be default or kept");
}

TEST(TorchKnobsTest, EveryCandidateSetsAnOptionToAnotherChoiceThanItsDefault) {
  std::set<std::string> set;
  for (const TuningCandidate& candidate : KnobCandidates()) {
    for (const auto& [name, value] : candidate.options) {
      set.insert(name);
      EXPECT_NE(Names(Knobs()).at(name), value);
      EXPECT_TRUE(KnobsOf(candidate.options).ok()) << name;
    }
  }
  EXPECT_EQ(set.size(), KnobOptions().size());
}

TEST(TorchKnobsTest, ApplySwitchesOneDnn) {
  Apply({false, false, false, false});
  EXPECT_FALSE(at::globalContext().userEnabledMkldnn());
  Apply({});
  EXPECT_TRUE(at::globalContext().userEnabledMkldnn());
}

}  // namespace
}  // namespace tench::pytorch::knobs_test
