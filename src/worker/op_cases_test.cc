// SPDX-License-Identifier: Apache-2.0
#include "worker/op_cases.h"

#include <gtest/gtest.h>

#include <set>

namespace tench::op_cases_test {
namespace {

TEST(OpCasesTest, EveryOpHasACase) {
  std::set<size_t> covered;
  for (const OpCase& each : OpCases()) {
    for (const Layer& layer : each.graph.layers) covered.insert(layer.op.index());
  }
  EXPECT_EQ(covered.size(), std::variant_size_v<Op>);
}

TEST(OpCasesTest, EveryCaseIsAValidNetworkWithANameOfItsOwn) {
  std::set<std::string> names;
  for (const OpCase& each : OpCases()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    const auto typed = Infer(each.graph, 4);
    EXPECT_TRUE(typed.ok()) << each.name << ": " << typed.error().message;
    EXPECT_TRUE(Infer(InferenceGraph(each.graph), 1).ok()) << each.name;
  }
}

}  // namespace
}  // namespace tench::op_cases_test
