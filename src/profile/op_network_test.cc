// SPDX-License-Identifier: Apache-2.0
#include "profile/op_network.h"

#include <gtest/gtest.h>

#include "net/op_traits.h"
#include "profile/problem.h"

namespace tench::op_network_test {
namespace {

std::string ProblemOf(std::string_view op, std::string_view text) {
  const auto network = ParseOpNetwork(op, text);
  if (!network) return network.error().message;
  const TypedGraph typed = *Infer(network->graph, network->batch);
  return ProblemText(typed, 2);
}

TEST(OpNetworkTest, WhatIsLeftOutFollowsBenchdnn) {
  EXPECT_EQ(ProblemOf("conv", "mb16ic64ih56oc32kh3ph1"),
            "mb16g1ic64ih56iw56oc32oh56ow56kh3kw3sh1sw1ph1pw1");
  EXPECT_EQ(ProblemOf("conv", "ic3ih227oc96kh11sh4"),
            "mb1g1ic3ih227iw227oc96oh55ow55kh11kw11sh4sw4ph0pw0");
  EXPECT_EQ(ProblemOf("fc", "m16n4096k9216"), "m16n4096k9216");
}

TEST(OpNetworkTest, AProblemOfTheCensusReadsBack) {
  for (const std::string problem : {"mb2g2ic96ih27iw27oc256oh27ow27kh5kw5sh1sw1ph2pw2",
                                    "mb1g1ic8ih20iw10oc4oh8ow6kh3kw3sh2sw1ph0pw0dh1dw1"})
    EXPECT_EQ(ProblemOf("conv", problem), problem);
}

TEST(OpNetworkTest, AllDirectionsAreComputed) {
  for (const auto& network :
       {*ParseOpNetwork("conv", "ic4ih8oc4kh3"), *ParseOpNetwork("fc", "m2n3k4")}) {
    const TypedGraph typed = *Infer(network.graph, network.batch);
    EXPECT_EQ(typed.layers[2].layer.name, kOpLayer);
    EXPECT_TRUE(NeedsGradient(typed)[typed.layers[2].inputs[0]]);
  }
}

TEST(OpNetworkTest, BadProblemsAreOneLine) {
  EXPECT_EQ(ProblemOf("conv", "mb16oc4kh3"), "'mb16oc4kh3': 'ic' is missing");
  EXPECT_EQ(ProblemOf("conv", "ic4ih8oc4kh3oh9"), "'ic4ih8oc4kh3oh9': the output is oh6ow6");
  EXPECT_EQ(ProblemOf("conv", "ic4ic4"), "'ic4ic4': 'ic' is given twice");
  EXPECT_EQ(ProblemOf("conv", "ic4x3"),
            "'ic4x3': unknown size 'x' (known: dh, dw, g, ic, ih, iw, kh, kw, mb, oc, oh, ow, ph, "
            "pw, sh, sw)");
  EXPECT_EQ(ProblemOf("pool", "x"), "unknown op 'pool'; it is conv or fc");
  for (const std::string bad :
       {"", "ic", "4", "ic4ih99999999999999999999oc1kh1", "ic4 ih8", "ic4ih2oc4kh3",
        "ic3g2oc4ih4kh1", "ic4ih8oc4kh3sh0", "mb0ic4ih8oc4kh3"}) {
    const auto network = ParseOpNetwork("conv", bad);
    ASSERT_FALSE(network) << bad;
    EXPECT_EQ(network.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tench::op_network_test
