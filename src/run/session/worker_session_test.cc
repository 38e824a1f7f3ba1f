// SPDX-License-Identifier: Apache-2.0
// Deadlines that are too long for run_cell_test, and the events of a session.
#include "run/session/worker_session.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/clock.h"

namespace tench::worker_session_test {
namespace {

constexpr const char* kHello =
    R"({"type":"hello","worker":{"protocol":1,"name":"sh","version":"1","ops":[],"devices":[],"precisions":[]}})";
constexpr const char* kBuild = R"({"type":"build","build_ns":1})";
constexpr const char* kSteps = R"({"type":"steps","first":0,"step_ns":[5],"loss":[1.5]})";
constexpr const char* kResult = R"({"type":"result","converged":true})";

// Starts a shell script in place of a worker.
WorkerSession Watched(const std::string& script, SessionOptions options, StopToken stop = {}) {
  WorkerLaunch launch{{}, *Pipe::Make(), *Pipe::Make(), {}};
  launch.spawn.executable = "/bin/sh";
  launch.spawn.arguments = {"-c", script};
  launch.spawn.environment = {{"PATH", "/usr/bin:/bin"}};
  launch.spawn.output_fd = launch.log.out.get();
  launch.spawn.extra_fd = launch.answers.out.get();
  if (options.timeout_ns == 0) options.timeout_ns = 20'000'000'000;
  options.instruments = &Instruments::OfThisMachine();
  WorkerSession session = *WorkerSession::Start(std::move(launch), std::move(options));
  session.Watch(nullptr, stop);
  return session;
}

std::string Say(std::initializer_list<const char*> lines) {
  std::string script;
  for (const char* line : lines) script += fmt::format("echo '{}' >&3\n", line);
  return script;
}

TEST(WorkerSessionTest, AWorkerThatSaysNoHelloIsEnded) {
  SessionOptions options;
  options.hello_ns = 50'000'000;
  const WorkerSession session = Watched("exec sleep 60", options);
  ASSERT_TRUE(session.ending());
  EXPECT_EQ(session.ending()->outcome, Outcome::kTimeout);
  EXPECT_EQ(session.ending()->reason, "no hello within 50 ms");
}

TEST(WorkerSessionTest, AWorkerThatLingersAfterItsResultIsKilledAndTheResultStands) {
  SessionOptions options;
  options.exit_ns = 50'000'000;
  const WorkerSession session =
      Watched(Say({kHello, kBuild, kSteps, kResult}) + "exec sleep 60", options);
  EXPECT_FALSE(session.ending());
  EXPECT_TRUE(session.lingered());
  EXPECT_TRUE(session.protocol().done());
}

TEST(WorkerSessionTest, AWorkerThatClosesItsChannelWithoutAResultIsEnded) {
  SessionOptions options;
  options.exit_ns = 50'000'000;
  const WorkerSession session =
      Watched(Say({kHello, kBuild, kSteps}) + "exec 3>&-; exec sleep 60", options);
  ASSERT_TRUE(session.ending());
  EXPECT_EQ(session.ending()->outcome, Outcome::kProtocolError);
}

TEST(WorkerSessionTest, LinesThatAreInThePipeWhenTheWorkerExitsAreRead) {
  const WorkerSession session = Watched(Say({kHello, kBuild, kSteps, kResult}), {});
  EXPECT_TRUE(session.protocol().done());
  EXPECT_EQ(session.protocol().series().loss, std::vector<double>{1.5});
  EXPECT_TRUE(session.seen().exit->clean());
}

TEST(WorkerSessionTest, StepsSentWhileItIsBeingEndedAreKept) {
  SessionOptions options;
  options.timeout_ns = 100'000'000;
  const std::string flush =
      fmt::format("trap \"echo '{}' >&3; exit 143\" TERM\n",
                  R"({\"type\":\"steps\",\"first\":0,\"step_ns\":[5],\"loss\":[1.5]})");
  const WorkerSession session = Watched(flush + Say({kHello, kBuild}) + "sleep 60 & wait", options);
  EXPECT_EQ(session.ending()->outcome, Outcome::kTimeout);
  EXPECT_EQ(session.protocol().series().step_ns.size(), 1u);
}

TEST(WorkerSessionTest, EveryMessageIsDeliveredInOrder) {
  SessionOptions options;
  std::vector<size_t> kinds;
  options.on_message = [&](const Message& message) -> Status {
    kinds.push_back(message.index());
    return Ok();
  };
  Watched(Say({kHello, kBuild, kSteps, kResult}), options);
  EXPECT_EQ(kinds, (std::vector<size_t>{Message(Hello{}).index(), Message(Built{}).index(),
                                        Message(Steps{}).index(), Message(Done{}).index()}));
}

TEST(WorkerSessionTest, AnEventThatFailsEndsTheWorkerAndNoFurtherEventIsDelivered) {
  SessionOptions options;
  int delivered = 0;
  options.on_message = [&](const Message&) -> Status {
    ++delivered;
    return Failed("no space");
  };
  const WorkerSession session = Watched(Say({kHello, kBuild}) + "exec sleep 60", options);
  ASSERT_TRUE(session.event_error());
  EXPECT_EQ(session.event_error()->message, "no space");
  EXPECT_EQ(delivered, 1);
}

TEST(WorkerSessionTest, AStopGivesTheWorkerItsGrace) {
  SessionOptions options;
  options.stop_grace_ns = 10'000'000'000;
  StopSource stop;
  options.on_message = [&](const Message& message) -> Status {
    if (std::holds_alternative<Built>(message)) stop.RequestStop();
    return Ok();
  };
  const std::string slow_end = "trap 'sleep 1; exit 0' TERM\n";
  const WorkerSession session =
      Watched(slow_end + Say({kHello, kBuild}) + "sleep 60 & wait", options, stop.token());
  EXPECT_EQ(session.ending()->outcome, Outcome::kInterrupted);
  EXPECT_FALSE(session.process().grace_expired());
  EXPECT_TRUE(session.seen().exit->clean());
}

TEST(WorkerSessionTest, AWorkerThatIgnoresAStopIsKilledAfterItsGrace) {
  SessionOptions options;
  options.stop_grace_ns = 50'000'000;
  StopSource stop;
  options.on_message = [&](const Message&) -> Status {
    stop.RequestStop();
    return Ok();
  };
  const WorkerSession session = Watched(
      "trap '' TERM\n" + Say({kHello}) + "while :; do sleep 0.1; done", options, stop.token());
  EXPECT_TRUE(session.process().grace_expired());
  EXPECT_EQ(session.seen().exit->signal, SIGKILL);
}

TEST(WorkerSessionTest, ALossThatIsNotFiniteIsNoEndWhereTheCallerSaysSo) {
  SessionOptions options;
  options.end_on_divergence = false;
  const char* nan = R"({"type":"steps","first":0,"step_ns":[5],"loss":["nan"]})";
  const WorkerSession session = Watched(Say({kHello, kBuild, nan, kResult}), options);
  EXPECT_FALSE(session.ending());
  EXPECT_TRUE(session.protocol().done());
}

}  // namespace
}  // namespace tench::worker_session_test
