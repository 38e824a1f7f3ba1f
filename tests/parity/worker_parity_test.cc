// SPDX-License-Identifier: Apache-2.0
// Parity of every built worker, on networks that together contain every op. A new worker is found
// and tested without an edit here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "net/zoo/zoo.h"
#include "protocol/missing_fact.h"
#include "run/verify/verifier.h"
#include "small_networks.h"
#include "test_name.h"

namespace tench::worker_parity_test {
namespace {

WorkerCatalog& Catalog() {
  static WorkerCatalog catalog = WorkerCatalog::Discover({TENCH_BIN_DIR});
  return catalog;
}

std::vector<std::string> Workers(bool on_kit) {
  std::vector<std::string> names;
  for (const WorkerEntry& entry : Catalog().entries())
    if (entry.installed() && IsOnKit(entry.name) == on_kit) names.push_back(entry.name);
  return names;
}

class WorkerParityTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNotTested(GetParam()); !why.empty()) GTEST_SKIP() << why;
    const auto description = Catalog().Describe(**Catalog().Find(GetParam()));
    ASSERT_TRUE(description.ok()) << description.error().message;
    const auto missing = description->facts.find(kMissingFact);
    if (missing != description->facts.end()) GTEST_SKIP() << missing->second;
    ops_ = description->ops;
  }

  // The first layer with an op, or a field of one, that the worker does not declare.
  std::string Lacking(const Graph& network) const {
    for (const Layer& layer : network.layers) {
      for (const std::string& word : OpNeeds(layer.op))
        if (std::ranges::count(ops_, word) == 0) return layer.name;
    }
    return "";
  }

  // The timed build in phase train, and in every phase if asked: each is two more processes.
  void ExpectVerified(const Graph& network, int64_t batch, bool every_phase = false) {
    static ReferenceAnswers answers(Catalog(), {}, StopToken());
    Subject subject;
    subject.job.network = network;
    subject.job.batch = batch + 1;
    subject.batch = batch;
    Verifier verifier(Catalog(), answers, StopToken());
    const auto seen =
        verifier.Verify(GetParam(), {network.name, ""}, subject, [](const std::string&) {});
    ASSERT_TRUE(seen.ok()) << seen.error().message;
    if (const std::string layer = Lacking(network); !layer.empty()) {
      EXPECT_EQ(Name(seen->outcome), "unsupported") << network.name;
      EXPECT_THAT(seen->reason, testing::HasSubstr("layer '" + layer + "'"));
      return;
    }
    EXPECT_EQ(Name(seen->outcome), "ok") << network.name << ": " << seen->reason;
    EXPECT_LE(seen->worst, 1) << network.name << ": " << seen->worst_tensor;
    EXPECT_TRUE(seen->verified()) << network.name << ": " << seen->reason;
    for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
      if (phase != Phase::kTrain && !every_phase) continue;
      subject.job.phase = phase;
      const auto timed =
          verifier.VerifyTimed(GetParam(), {network.name, ""}, subject, [](const std::string&) {});
      ASSERT_TRUE(timed.ok()) << timed.error().message;
      EXPECT_EQ(Name(timed->outcome), "ok")
          << network.name << ", " << Name(phase) << ": " << timed->reason;
      EXPECT_TRUE(timed->verified())
          << network.name << ", " << Name(phase) << ": " << timed->reason;
    }
  }

 private:
  std::vector<std::string> ops_;
};

TEST_P(WorkerParityTest, HoldsOnConvolutionsAndDenseLayers) { ExpectVerified(SmallLenet(), 4); }
TEST_P(WorkerParityTest, HoldsOnBranchesNormsAndPools) { ExpectVerified(SmallBranches(), 4, true); }
TEST_P(WorkerParityTest, HoldsOnSequences) { ExpectVerified(SmallLstm(), 4, true); }
TEST_P(WorkerParityTest, HoldsOnAnAutoencoder) { ExpectVerified(SmallAutoencoder(), 4); }
TEST_P(WorkerParityTest, HoldsOnTheOpsOfCaffesNetworks) { ExpectVerified(SmallCaffe(), 4); }
TEST_P(WorkerParityTest, HoldsOnTheOpsOfCaffesNetworksAtAnOddBatch) {
  ExpectVerified(SmallCaffe(), 7);
}
TEST_P(WorkerParityTest, HoldsAtAnOddBatch) { ExpectVerified(SmallBranches(), 5); }

INSTANTIATE_TEST_SUITE_P(Every, WorkerParityTest, testing::ValuesIn(Workers(false)),
                         [](const auto& worker) { return TestName(worker.param); });

// The same networks side by side, so that a framework is loaded a third as often.
class KitParityTest : public WorkerParityTest {
 protected:
  // Networks with an op that the worker lacks are left out.
  Graph SupportedOf(const std::vector<Graph>& networks) const {
    std::vector<Graph> supported;
    for (const Graph& network : networks)
      if (Lacking(network).empty()) supported.push_back(network);
    return SideBySide(supported);
  }
};

TEST_P(KitParityTest, HoldsOnImages) {
  ExpectVerified(SupportedOf({SmallLenet(), SmallBranches()}), 5, true);
}
TEST_P(KitParityTest, HoldsOnSequencesCodesAndTheOpsOfCaffesNetworks) {
  ExpectVerified(SupportedOf({SmallLstm(), SmallAutoencoder(), SmallCaffe()}), 7);
}
TEST_P(KitParityTest, RefusesNetworksWithAnOpThatItLacks) {
  for (const Graph& network : SmallNetworks())
    if (!Lacking(network).empty()) ExpectVerified(network, 4);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KitParityTest);
INSTANTIATE_TEST_SUITE_P(Every, KitParityTest, testing::ValuesIn(Workers(true)),
                         [](const auto& worker) { return TestName(worker.param); });

}  // namespace
}  // namespace tench::worker_parity_test
