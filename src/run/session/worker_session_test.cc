// SPDX-License-Identifier: Apache-2.0
// The deadlines that are too long to wait for in a test of Execute.
#include "run/session/worker_session.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace tench {
namespace {

constexpr const char* kHello =
    R"({"type":"hello","worker":{"protocol":1,"name":"sh","version":"1","ops":[],"devices":[],"precisions":[]}})";
constexpr const char* kBuild = R"({"type":"build","build_ns":1})";
constexpr const char* kSteps = R"({"type":"steps","first":0,"step_ns":[5],"loss":[1.5]})";
constexpr const char* kResult = R"({"type":"result","converged":true})";

// Watches a shell script in the place of a worker.
Supervision Watched(const std::string& script, SupervisionOptions options) {
  Pipe answers = *Pipe::Make(), log = *Pipe::Make();
  SpawnOptions spawn;
  spawn.executable = "/bin/sh";
  spawn.arguments = {"-c", script};
  spawn.environment = {{"PATH", "/usr/bin:/bin"}};
  spawn.output_fd = log.out.get();
  spawn.extra_fd = answers.out.get();
  if (options.timeout_ns == 0) options.timeout_ns = 20'000'000'000;
  const int64_t launched_ns = NowNs();
  Supervision supervision(*Subprocess::Spawn(spawn), std::move(answers.in), std::move(log.in),
                          launched_ns, options, MemoryWatch(0, SwapPolicy::kAllow, 0),
                          Instruments::OfThisMachine());
  answers.out.Close();
  log.out.Close();
  supervision.Watch(nullptr, StopToken());
  return supervision;
}

std::string Say(std::initializer_list<const char*> lines) {
  std::string script;
  for (const char* line : lines) script += fmt::format("echo '{}' >&3\n", line);
  return script;
}

TEST(SupervisionTest, AWorkerThatSaysNoHelloIsEnded) {
  SupervisionOptions options;
  options.hello_ns = 50'000'000;
  const Supervision supervision = Watched("exec sleep 60", options);
  ASSERT_TRUE(supervision.ending());
  EXPECT_EQ(supervision.ending()->outcome, Outcome::kTimeout);
  EXPECT_EQ(supervision.ending()->reason, "no hello within 50 ms");
}

TEST(SupervisionTest, AWorkerThatLingersAfterItsResultIsKilledAndTheResultStands) {
  SupervisionOptions options;
  options.exit_ns = 50'000'000;
  const Supervision supervision =
      Watched(Say({kHello, kBuild, kSteps, kResult}) + "exec sleep 60", options);
  EXPECT_FALSE(supervision.ending());
  EXPECT_TRUE(supervision.lingered());
  EXPECT_TRUE(supervision.conversation().done());
}

TEST(SupervisionTest, AWorkerThatClosesItsChannelWithoutAResultIsEnded) {
  SupervisionOptions options;
  options.exit_ns = 50'000'000;
  const Supervision supervision =
      Watched(Say({kHello, kBuild, kSteps}) + "exec 3>&-; exec sleep 60", options);
  ASSERT_TRUE(supervision.ending());
  EXPECT_EQ(supervision.ending()->outcome, Outcome::kProtocolError);
}

TEST(SupervisionTest, LinesThatAreInThePipeWhenTheWorkerExitsAreRead) {
  const Supervision supervision = Watched(Say({kHello, kBuild, kSteps, kResult}), {});
  EXPECT_TRUE(supervision.conversation().done());
  EXPECT_EQ(supervision.conversation().series().loss, std::vector<double>{1.5});
  EXPECT_TRUE(supervision.seen().exit->clean());
}

TEST(SupervisionTest, StepsSentWhileItIsBeingEndedAreKept) {
  SupervisionOptions options;
  options.timeout_ns = 100'000'000;
  const std::string flush =
      fmt::format("trap \"echo '{}' >&3; exit 143\" TERM\n",
                  R"({\"type\":\"steps\",\"first\":0,\"step_ns\":[5],\"loss\":[1.5]})");
  const Supervision supervision =
      Watched(flush + Say({kHello, kBuild}) + "sleep 60 & wait", options);
  EXPECT_EQ(supervision.ending()->outcome, Outcome::kTimeout);
  EXPECT_EQ(supervision.conversation().series().step_ns.size(), 1u);
}

}  // namespace
}  // namespace tench
