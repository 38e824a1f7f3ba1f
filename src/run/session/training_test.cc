// SPDX-License-Identifier: Apache-2.0
// A shell script replaces the worker; the job names the snapshot folder.
#include "run/session/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"

namespace tench::training_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kBegin = R"(#!/bin/sh
say() { echo "$1" >&3; }
keep() { mkdir -p snapshots/.part && mv snapshots/.part "snapshots/$1"; }
say '{"type":"hello","worker":{"protocol":1,"name":"sh","version":"1.2","ops":[],"devices":[],"precisions":[]}}'
say '{"type":"build","build_ns":1}'
)";

class TrainingTest : public testing::Test {
 protected:
  Result<TrainingEnd> TrainWith(const std::string& script, const std::string& version = "") {
    WorkerEntry entry;
    entry.name = "sh";
    entry.executable = folder_.path() / "tench-worker-sh";
    std::ofstream(entry.executable) << kBegin << script;
    std::filesystem::permissions(entry.executable, std::filesystem::perms::owner_all);
    Job job;
    job.threads = 1;
    job.snapshots.after = {2};
    TrainingEvents events;
    events.on_hello = [this](const Hello& hello) -> Status {
      told_.push_back("hello of " + hello.worker.name);
      return Ok();
    };
    events.on_steps = [this](const Steps& steps) -> Status {
      told_.push_back(fmt::format("{} steps from {}", steps.loss.size(), steps.first));
      if (stop_at_steps_) stop_.RequestStop();
      return Ok();
    };
    events.on_snapshot = [this](int64_t steps, const std::filesystem::path&) -> Status {
      told_.push_back(fmt::format("snapshot {}", steps));
      return snapshot_status_;
    };
    return Train(entry, version, job, events, stop_.token());
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-training-test-");
  StopSource stop_;
  bool stop_at_steps_ = false;
  Status snapshot_status_ = Ok();
  std::vector<std::string> told_;
};

TEST_F(TrainingTest, ASnapshotComesBetweenTheStepsThatItLiesBetween) {
  const auto end = TrainWith(R"(keep 2
say '{"type":"steps","first":0,"step_ns":[5,5,5],"loss":[3,2,"nan"]}'
keep 3
say '{"type":"result","converged":true}'
)");
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(*end, TrainingEnd::kComplete);
  EXPECT_THAT(told_, ElementsAre("hello of sh", "2 steps from 0", "snapshot 2", "1 steps from 2",
                                 "snapshot 3"));
}

TEST_F(TrainingTest, AStopLeavesTheWorkerTimeForItsLastSnapshot) {
  stop_at_steps_ = true;
  const auto end = TrainWith(R"(trap 'sleep 1; keep 1; exit 0' TERM
say '{"type":"steps","first":0,"step_ns":[5],"loss":[3]}'
sleep 60 & wait
)");
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(*end, TrainingEnd::kStopped);
  EXPECT_THAT(told_, ElementsAre("hello of sh", "1 steps from 0", "snapshot 1"));
}

TEST_F(TrainingTest, AnEventThatFailsEndsTheWorkerAndIsReturned) {
  snapshot_status_ = Failed("no space");
  const auto end = TrainWith(R"(say '{"type":"steps","first":0,"step_ns":[5],"loss":[3]}'
keep 1
exec sleep 60
)");
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "no space");
}

TEST_F(TrainingTest, AFailureOfTheWorkerIsReturnedWithItsKind) {
  const auto end =
      TrainWith("say '{\"type\":\"error\",\"kind\":\"unsupported\",\"message\":\"no lrn\"}'\n");
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "no lrn");
  EXPECT_EQ(end.error().kind, ErrorKind::kUnsupported);
}

TEST_F(TrainingTest, AnotherVersionThanTheInstalledOneIsUnsupported) {
  const auto end = TrainWith("exec sleep 60\n", "1.3");
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "version 1.3 was requested, but 1.2 is installed");
  EXPECT_THAT(told_, ElementsAre());
}

TEST_F(TrainingTest, AnEndWithoutAResultIsAnError) {
  const auto end = TrainWith("exit 3\n");
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message, HasSubstr("exit code 3"));
  const auto breach = TrainWith("say '<html>'\n");
  ASSERT_FALSE(breach.ok());
  EXPECT_THAT(breach.error().message, HasSubstr("broke the protocol"));
}

}  // namespace
}  // namespace tench::training_test
