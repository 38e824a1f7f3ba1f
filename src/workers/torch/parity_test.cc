// SPDX-License-Identifier: Apache-2.0
// PyTorch's mapping of every op, in every layout and with either kernel library, against the
// reference worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/op_parity.h"
#include "workers/reference/adapter.h"
#include "workers/torch/adapter.h"

namespace tench::pytorch::parity_test {
namespace {

using testing::IsEmpty;
using OptionValues = std::map<std::string, std::string>;

void ExpectEveryOpAgrees(const OptionValues& options) {
  const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(), torch = MakeTorchAdapter();
  for (const OpCase& each : OpCases())
    EXPECT_THAT(CompareOpCase(*reference, *torch, each, options), IsEmpty());
}

TEST(TorchParityTest, EveryOpAgrees) { ExpectEveryOpAgrees({}); }

TEST(TorchParityTest, EveryOpAgreesInChannelsLast) {
  ExpectEveryOpAgrees({{"layout", "channels_last"}});
}

TEST(TorchParityTest, ATimedGradientStepMaterializesEveryGradient) {
  const Graph graph = OpChain({4, 6, 6})
                          .Then("conv", UnbiasedConvolution(8))
                          .Then("bn", BatchNorm{})
                          .Then("relu", Relu{})
                          .Classify();
  EXPECT_THAT(CompareTimedGradients(*MakeReferenceAdapter(), *MakeTorchAdapter(), graph, 4),
              IsEmpty());
}

TEST(TorchParityTest, EveryOpAgreesWithoutOneDnn) { ExpectEveryOpAgrees({{"kernels", "own"}}); }

}  // namespace
}  // namespace tench::pytorch::parity_test
