// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/wire_format.h"

#include <gtest/gtest.h>

#include <vector>

#include "workers/tensorflow/profile.h"
#include "workers/tensorflow/session.h"

namespace tench::tensorflow::wire_format_test {
namespace {

TEST(WireFormatTest, SaysAConfigInTheBytesThatProtobufWouldWrite) {
  // device_count {"GPU": 0}, intra_op 2, inter_op 3, allow_soft_placement, use_per_session_threads
  EXPECT_EQ(ConfigProto({2, 3, false}),
            std::string("\x0a\x07\x0a\x03GPU\x10\x00\x10\x02\x28\x03\x38\x01\x48\x01", 17));
  // -1 is sign-extended to ten bytes.
  EXPECT_EQ(ConfigProto({1, -1, true}),
            "\x10\x01\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x38\x01\x48\x01");
}

TEST(WireFormatTest, ReadsBackWhatItWrites) {
  const std::string text = WireWriter().Integer(1, 300).Bytes(2, "inner").Integer(1000, -5).text();
  std::vector<int64_t> integers;
  std::string bytes;
  ASSERT_TRUE(ReadWire(text, [&](const WireField& field) {
                if (field.number == 2) {
                  bytes = field.bytes;
                } else {
                  integers.push_back(field.integer);
                }
              }).ok());
  EXPECT_EQ(integers, (std::vector<int64_t>{300, -5}));
  EXPECT_EQ(bytes, "inner");
}

TEST(WireFormatTest, RefusesEveryMessageThatEndsTooSoon) {
  const std::string text = WireWriter().Bytes(1, "some text").text();
  for (size_t size = 1; size < text.size(); ++size)
    EXPECT_FALSE(ReadWire(text.substr(0, size), [](const WireField&) {}).ok()) << size;
  // A group, which is deprecated.
  EXPECT_FALSE(ReadWire("\x0b", [](const WireField&) {}).ok());
}

TEST(ProfileTest, MatchesNodesToLayersAndAddsUpSteps) {
  const auto node = [](const std::string& name, const std::string& label, int64_t begin_ns,
                       int64_t end_ns) {
    return WireWriter()
        .Bytes(1, name)
        .Bytes(8, label)
        .Integer(14, begin_ns)
        .Integer(15, end_ns)
        .text();
  };
  WireWriter device;
  device.Bytes(2, node("f.1.fc/MatMul", "[CPU] f.1.fc/MatMul = _MklMatMul(a, b)", 10, 40));
  device.Bytes(2, node("u.1.fc.weight/decay", "u.1.fc.weight/decay = Mul(a, b)", 0, 5));
  const std::string metadata =
      WireWriter().Bytes(1, WireWriter().Bytes(1, device.text()).text()).text();
  TypedGraph graph;
  graph.batch = 1;
  graph.layers.resize(2);
  graph.layers[0].layer = {"data", Input{InputRole::kData, {4}, {}}, {}, {}, {}};
  graph.layers[0].output = {DType::kF32, {1, 4}};
  graph.layers[1].layer = {"fc", FullyConnected{2}, {"data"}, {}, {}};
  graph.layers[1].inputs = {0};
  graph.layers[1].output = {DType::kF32, {1, 2}};
  Profile profile(graph, {});
  ASSERT_TRUE(profile.AddStep(metadata).ok());
  ASSERT_TRUE(profile.AddStep(metadata).ok());
  const std::vector<ProfileRow> rows = profile.Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].layer, "fc");
  EXPECT_EQ(rows[0].direction, "forward");
  EXPECT_EQ(rows[0].kernel, "_MklMatMul");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].time_ns, 60);
  EXPECT_EQ(rows[1].direction, "update");
  EXPECT_FALSE(profile.AddStep(metadata.substr(0, metadata.size() - 3)).ok());
}

}  // namespace
}  // namespace tench::tensorflow::wire_format_test
