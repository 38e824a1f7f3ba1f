// SPDX-License-Identifier: Apache-2.0
#include "protocol/trace_file.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace tench::trace_file_test {
namespace {

TEST(TraceFileTest, EventsReadBack) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  const std::vector<TraceEvent> events = {
      {kStepsTrack, "step 1", "", "", 1000, 500},
      {"thread 7", "jit:avx2 \"x\"\n", "conv1", "backward_weights", 1100, 0}};
  ASSERT_TRUE(WriteTraceFile(folder.path() / "trace", events));
  const auto back = ReadTraceFile(folder.path() / "trace");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, events);
}

TEST(TraceFileTest, AMalformedLineIsNamed) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  const auto file = folder.path() / "trace";
  const std::string good = R"({"track":"steps","name":"step 1","start_ns":1,"time_ns":2})";
  for (const std::string bad : {"{", "[]", R"({"track":"steps","name":"x","start_ns":1})",
                                R"({"track":"steps","name":"x","start_ns":1,"time_ns":-2})"}) {
    ASSERT_TRUE(WriteFileAtomically(file, good + "\n" + bad + "\n"));
    const auto read = ReadTraceFile(file);
    ASSERT_FALSE(read) << bad;
    EXPECT_NE(read.error().message.find("the trace, line 2"), std::string::npos)
        << read.error().message;
  }
  EXPECT_FALSE(ReadTraceFile(folder.path() / "missing"));
}

}  // namespace
}  // namespace tench::trace_file_test
