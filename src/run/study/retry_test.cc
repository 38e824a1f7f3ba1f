// SPDX-License-Identifier: Apache-2.0
#include "run/study/retry.h"

#include <gtest/gtest.h>

#include "run/session/test_worker.h"
#include "store/test_run.h"

namespace tench::retry_test {
namespace {

HostFacts Host(int64_t memory_bytes, size_t cpus) {
  HostFacts host;
  host.memory_bytes = memory_bytes;
  host.allowed_cpus.resize(cpus);
  return host;
}

class RetryTest : public testing::Test {
 protected:
  // A failed run that stored the conditions of this host and these workers.
  RunRecord Failed(const HostFacts& host, Outcome outcome = Outcome::kOutOfMemory) {
    RunRecord run = TestRun(1, 0, FakeCell("ok").cell);
    run.outcome = outcome;
    run.build = "b1";
    run.conditions = RetryConditions(workers_.catalog(), host, builds_).For(run);
    return run;
  }
  bool Changed(const RunRecord& run, const HostFacts& host) {
    return RetryConditions(workers_.catalog(), host, builds_).Changed(run);
  }

  TestWorkers workers_;
  WorkerBuilds builds_ = {{"fake", "b1"}};
};

TEST_F(RetryTest, EqualConditionsAreNoReason) {
  EXPECT_FALSE(Changed(Failed(Host(1 << 30, 2)), Host(1 << 30, 2)));
  EXPECT_FALSE(Changed(Failed(Host(1 << 30, 2), Outcome::kUnsupported), Host(1 << 30, 2)));
  EXPECT_FALSE(Changed(Failed(Host(1000 << 20, 2)), Host(1001 << 20, 2)))
      << "the kernel's share of the memory varies";
}

TEST_F(RetryTest, MemoryDevicesAndBuildAreReasons) {
  const RunRecord run = Failed(Host(1 << 30, 2));
  EXPECT_TRUE(Changed(run, Host(2LL << 30, 2)));
  EXPECT_TRUE(Changed(run, Host(1 << 30, 4)));
  HostFacts with_gpu = Host(1 << 30, 2);
  with_gpu.gpus.resize(1);
  EXPECT_TRUE(Changed(run, with_gpu));
  HostFacts limited = Host(1 << 30, 2);
  limited.cgroup.memory_bytes = 1 << 29;
  EXPECT_TRUE(Changed(run, limited));
  builds_["fake"] = "b2";
  EXPECT_TRUE(Changed(run, Host(1 << 30, 2)));
}

TEST_F(RetryTest, UnknownConditionsOfAnOlderFileAreNoReason) {
  RunRecord run = Failed(Host(1 << 30, 2));
  for (const char* conditions : {"", "{}", "[1]", "{\"memory_bytes\":\"much\"}"}) {
    run.conditions = conditions;
    EXPECT_FALSE(Changed(run, Host(1 << 30, 2))) << conditions;
  }
}

TEST_F(RetryTest, AWorkersOwnMissingPartIsACondition) {
  RunRecord run = Failed(Host(1 << 30, 2), Outcome::kUnsupported);
  const std::string key = "\"missing\":\"";
  run.conditions.insert(run.conditions.find(key) + key.size(), "its program");
  EXPECT_TRUE(Changed(run, Host(1 << 30, 2)));
}

}  // namespace
}  // namespace tench::retry_test
