// SPDX-License-Identifier: Apache-2.0
#include "profile/trace.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"

namespace tench::trace_test {
namespace {

std::vector<TraceEvent> TwoThreads() {
  return {{kStepsTrack, "step 1", "", "", 5'000'000, 3'000'000},
          {"thread 7", "jit:avx2", "conv1", "forward", 5'000'500, 1'000'250},
          {"thread 8", "gemm", "fc1", "backward_data", 6'000'000, 10}};
}

// Chrome's format: every event has a phase, a process and a thread; complete events have a name, a
// start and a duration that is not negative.
TEST(TraceTest, EveryEventObeysTheFormat) {
  const Json trace = *ParseJson(ChromeTrace(TwoThreads(), "native lenet"), "trace");
  std::set<int64_t> named, used;
  for (const Json& event : trace["traceEvents"]) {
    ASSERT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer());
    if (event["ph"] == "M") {
      if (event["name"] == "thread_name") named.insert(event["tid"].get<int64_t>());
      continue;
    }
    ASSERT_EQ(event["ph"], "X");
    EXPECT_TRUE(event["name"].is_string());
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    used.insert(event["tid"].get<int64_t>());
  }
  EXPECT_EQ(named, used);
  EXPECT_EQ(used.size(), 3u);
}

TEST(TraceTest, TimesAreMicrosecondsFromTheFirstEvent) {
  const Json trace = *ParseJson(ChromeTrace(TwoThreads(), "p"), "trace");
  std::vector<Json> complete;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "X") complete.push_back(event);
  ASSERT_EQ(complete.size(), 3u);
  EXPECT_EQ(complete[0]["ts"], 0.0);
  EXPECT_EQ(complete[0]["dur"], 3000.0);
  EXPECT_EQ(complete[1]["ts"], 0.5);
  EXPECT_EQ(complete[1]["dur"], 1000.25);
  EXPECT_EQ(complete[1]["args"]["layer"], "conv1");
  EXPECT_EQ(complete[1]["cat"], "forward");
  EXPECT_NE(complete[1]["tid"], complete[2]["tid"]);
}

TEST(TraceTest, NamesThatAreNoUtf8GiveValidJson) {
  const std::vector<TraceEvent> events = {{"thread 1", "\xff\"\n", "a\xc3", "forward", 1, 1}};
  EXPECT_TRUE(ParseJson(ChromeTrace(events, "\xfe"), "trace").ok());
  EXPECT_TRUE(ParseJson(ChromeTrace({}, "empty"), "trace").ok());
}

}  // namespace
}  // namespace tench::trace_test
