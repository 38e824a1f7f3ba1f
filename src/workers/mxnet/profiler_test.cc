// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/profiler.h"

#include <gtest/gtest.h>

#include "data/data_set.h"

namespace tench::mxnet::profiler_test {
namespace {

constexpr const char* kListing =
    "Symbol Outputs:\n\toutput[0]=loss(0)\nVariable:data\n--------------------\nOp:Convolution, "
    "Name=conv1\nInputs:\n\targ[0]=data(0) version=0\n"
    "--------------------\nOp:Cast, "
    "Name=loss.exact\n--------------------\nOp:_backward_Convolution, Name=conv1_backward\n"
    "Total 3 MB allocated\n";

TEST(MxnetProfilerTest, ReadsTheNodesOfAListingInOrder) {
  const std::vector<ListedNode> nodes = ParseListing(kListing);
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].op, "Convolution");
  EXPECT_EQ(nodes[1].name, "loss.exact");
  EXPECT_EQ(nodes[2].name, "conv1_backward");
}

TEST(MxnetProfilerTest, ReadsOperatorsOfATraceInTheOrderOfTimeAndOnceEach) {
  const auto events = ParseTrace(
      R"({"traceEvents":[{"ph":"M","name":"process_name","args":{"name":"cpu/0"},"pid":0},
    {"name":"B2","cat":"operator","ph":"B","ts":30,"pid":0,"tid":1},{"name":"B2","cat":"operator","ph":"E","ts":37,"pid":0,"tid":1},
    {"name":"A","cat":"operator","ph":"B","ts":11,"pid":0,"tid":1},{"name":"A","cat":"operator","ph":"E","ts":12,"pid":0,"tid":1},
    {"name":"A","cat":"operator","ph":"B","ts":10,"pid":0,"tid":1},{"name":"A","cat":"operator","ph":"E","ts":12,"pid":0,"tid":1},
    {"name":"A","cat":"operator","ph":"B","ts":12,"pid":0,"tid":1},{"name":"A","cat":"operator","ph":"E","ts":12,"pid":0,"tid":1},
    {"name":"MXNDArrayWaitAll","cat":"MXNET_C_API","ph":"B","ts":1,"pid":0,"tid":1}]})");
  ASSERT_TRUE(events.ok()) << events.error().message;
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].op, "A");
  EXPECT_EQ((*events)[0].time_ns, 2000);
  EXPECT_EQ((*events)[1].time_ns, 0);
  EXPECT_EQ((*events)[2].time_ns, 7000);
  EXPECT_FALSE(ParseTrace("{}").ok());
  EXPECT_FALSE(ParseTrace("[").ok());
}

TEST(MxnetProfilerTest, GivesEveryEventToItsLayerOverSeveralSteps) {
  const TypedGraph graph = *Infer(*LoadNetwork("lenet", "mnist", 0), 4);
  const std::vector<ListedNode> nodes = ParseListing(kListing);
  const std::vector<OpEvent> step = {{"Convolution", 5},
                                     {"Cast", 1},
                                     {"_backward_Convolution", 9},
                                     {"sgd_mom_update", 2},
                                     {"sgd_mom_update", 3}};
  std::vector<OpEvent> events = step;
  events.insert(events.end(), step.begin(), step.end());
  events.push_back({"Unheard", 4});
  const std::vector<std::string> updated = {"conv1", "ip1"};
  const std::vector<ProfileRow> rows = AttributeEvents(events, nodes, graph, updated);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].layer, "conv1");
  EXPECT_EQ(rows[0].direction, "forward");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].time_ns, 10);
  EXPECT_GT(rows[0].flops, 0);
  EXPECT_EQ(rows[1].layer, "loss");
  EXPECT_EQ(rows[2].direction, "backward");
  EXPECT_EQ(rows[4], (ProfileRow{"ip1", "update", "sgd_mom_update", 2, 6, 0, 0}));
  EXPECT_EQ(rows[5], (ProfileRow{"", "forward", "Unheard", 1, 4, 0, 0}));
}

}  // namespace
}  // namespace tench::mxnet::profiler_test
