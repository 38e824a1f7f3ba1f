// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

namespace tench::subprocess_test {
namespace {

using testing::HasSubstr;

// Blocking, unlike Pipe.
struct TestPipe {
  Fd in, out;
  TestPipe() {
    int fds[2];
    Check(pipe2(fds, O_CLOEXEC) == 0, "pipe2");
    in = Fd(fds[0]);
    out = Fd(fds[1]);
  }
  std::string ReadAll() {
    out.Close();
    std::string text;
    char buffer[4096];
    ssize_t got;
    while ((got = read(in.get(), buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<size_t>(got));
    return text;
  }
  std::string ReadLine() {
    std::string line;
    char c;
    while (read(in.get(), &c, 1) == 1 && c != '\n') line += c;
    return line;
  }
};

SpawnOptions Shell(const std::string& script, const TestPipe& output) {
  SpawnOptions options;
  options.executable = "/bin/sh";
  options.arguments = {"-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.output_fd = output.out.get();
  return options;
}

std::string OutputOf(const std::string& script) {
  TestPipe output;
  auto child = Subprocess::Spawn(Shell(script, output));
  EXPECT_TRUE(child) << child.error().message;
  const std::string text = output.ReadAll();
  child->End(0);
  return text;
}

bool IsAlive(int64_t pid) { return kill(static_cast<pid_t>(pid), 0) == 0; }
int64_t InSeconds(double seconds) { return NowNs() + static_cast<int64_t>(seconds * 1e9); }

TEST(SubprocessTest, TellsExitCodeAndSignal) {
  TestPipe output;
  auto exits = Subprocess::Spawn(Shell("exit 7", output));
  ASSERT_TRUE(exits);
  EXPECT_EQ(exits->Wait(InSeconds(10))->ToString(), "exit code 7");
  EXPECT_FALSE(exits->End(0).clean());
  auto dies = Subprocess::Spawn(Shell("kill -SEGV $$", output));
  ASSERT_TRUE(dies);
  EXPECT_EQ(dies->Wait(InSeconds(10))->ToString(), "signal SIGSEGV");
}

TEST(SubprocessTest, ReportsAProgramThatCannotBeExecutedAsAnError) {
  SpawnOptions options;
  options.executable = "/nonexistent/program";
  const auto child = Subprocess::Spawn(options);
  ASSERT_FALSE(child);
  EXPECT_THAT(child.error().message, HasSubstr("/nonexistent/program: execute: No such file"));
  options.executable = "/bin/true";
  options.folder = "/nonexistent";
  const auto lost = Subprocess::Spawn(options);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("enter its folder"));
}

TEST(SubprocessTest, GivesOnlyTheEnvironmentThatWasNamed) {
  setenv("TENCH_TEST_SECRET", "x", 1);
  EXPECT_EQ(OutputOf("env | grep -c TENCH_TEST_SECRET"), "0\n");
  EXPECT_EQ(OutputOf("echo $PATH"), "/usr/bin:/bin\n");
  unsetenv("TENCH_TEST_SECRET");
}

TEST(SubprocessTest, StdinIsEmptyAndForeignDescriptorsDoNotLeak) {
  const Fd leaky(open("/dev/null", O_RDONLY));  // not close-on-exec
  // Tests each number in the shell, because a pipeline or a listing would open more descriptors.
  EXPECT_EQ(
      OutputOf(
          "cat; for i in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$i ] && echo $i; done; true"),
      "0\n1\n2\n");
}

TEST(SubprocessTest, PassesAnExtraDescriptorAsNumberThree) {
  TestPipe output, extra;
  SpawnOptions options = Shell("echo answer >&3; echo chatter", output);
  options.extra_fd = extra.out.get();
  auto child = Subprocess::Spawn(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(extra.ReadAll(), "answer\n");
  EXPECT_EQ(output.ReadAll(), "chatter\n");
}

TEST(SubprocessTest, SendsStderrElsewhereWhenAsked) {
  TestPipe output, errors;
  SpawnOptions options = Shell("echo answer; echo complaint >&2", output);
  options.error_fd = errors.out.get();
  auto child = Subprocess::Spawn(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(output.ReadAll(), "answer\n");
  EXPECT_EQ(errors.ReadAll(), "complaint\n");
}

TEST(SubprocessTest, AppliesAffinityOomScoreFolderAndNoCore) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) last = cpu;
  }
  TestPipe output;
  SpawnOptions options = Shell(
      "grep Cpus_allowed_list /proc/self/status; cat /proc/self/oom_score_adj; pwd; ulimit -c",
      output);
  options.cpus = {last};
  options.oom_score_adj = 1000;
  options.folder = "/usr";
  auto child = Subprocess::Spawn(options);
  ASSERT_TRUE(child);
  EXPECT_EQ(output.ReadAll(), fmt::format("Cpus_allowed_list:\t{}\n1000\n/usr\n0\n", last));
}

TEST(SubprocessTest, IgnoredSignalsAreNotInherited) {
  signal(SIGPIPE, SIG_IGN);
  const std::string text = OutputOf("grep SigIgn /proc/self/status");
  signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(text.starts_with("SigIgn:\t")) << text;
  // Only SIGPIPE is tested: the starter of this test may ignore signals that no program can reset
  // (32 and 33 of the C library).
  EXPECT_EQ(std::stoull(text.substr(8), nullptr, 16) & (1ull << (SIGPIPE - 1)), 0u) << text;
}

TEST(SubprocessTest, WaitReturnsAtItsDeadlineAndTheDescriptorTellsTheEnd) {
  TestPipe output;
  auto child = Subprocess::Spawn(Shell("exec sleep 60", output));
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->Wait(InSeconds(0.01)));
  EXPECT_FALSE(child->Wait(0));
  child->Signal(SIGTERM);
  ASSERT_TRUE(child->Wait(InSeconds(10)));
  EXPECT_EQ(child->status()->signal, SIGTERM);
}

TEST(SubprocessTest, EndKillsAChildThatIgnoresSigterm) {
  TestPipe output;
  auto child =
      Subprocess::Spawn(Shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", output));
  ASSERT_TRUE(child);
  EXPECT_EQ(output.ReadLine(), "ready");
  EXPECT_EQ(child->End(50'000'000).signal, SIGKILL);
}

TEST(SubprocessTest, EndLeavesNoDescendantEvenOneWithASessionOfItsOwn) {
  TestPipe output;
  auto child = Subprocess::Spawn(
      Shell("sleep 60 & echo $!; setsid sh -c 'sleep 60 & echo $! $$; wait' & wait", output));
  ASSERT_TRUE(child);
  const auto first = ParseInteger(output.ReadLine());
  const auto others = Split(output.ReadLine(), ' ');
  ASSERT_TRUE(first);
  ASSERT_EQ(others.size(), 2u);
  child->End(0);
  EXPECT_FALSE(IsAlive(*first));
  for (const auto& other : others) EXPECT_FALSE(IsAlive(*ParseInteger(other))) << other;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
}

TEST(SubprocessTest, EndsOrphansOfAChildThatEndedByItself) {
  TestPipe output;
  auto child = Subprocess::Spawn(Shell("setsid sleep 60 & echo $!", output));
  ASSERT_TRUE(child);
  const auto orphan = ParseInteger(output.ReadLine());
  ASSERT_TRUE(child->Wait(InSeconds(10)));
  ASSERT_TRUE(orphan);
  EXPECT_TRUE(IsAlive(*orphan));
  child->End(0);
  EXPECT_FALSE(IsAlive(*orphan));
}

TEST(SubprocessTest, LeavesChildrenFromBeforeAlone) {
  const pid_t bystander = fork();
  if (bystander == 0) {
    pause();
    _exit(0);
  }
  OutputOf("true");
  EXPECT_TRUE(IsAlive(bystander));
  kill(bystander, SIGKILL);
  EXPECT_EQ(waitpid(bystander, nullptr, 0), bystander);
}

TEST(SubprocessTest, ChildDiesWithItsParent) {
  TestPipe output;
  const pid_t parent = fork();
  if (parent == 0) {
    auto child = Subprocess::Spawn(Shell("echo $$; exec sleep 60", output));
    pause();
    _exit(0);
  }
  output.out.Close();
  const auto child = ParseInteger(output.ReadLine());
  ASSERT_TRUE(child);
  ASSERT_TRUE(IsAlive(*child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  // End of file arrives when the last holder of the pipe has ended.
  EXPECT_EQ(output.ReadLine(), "");
}

TEST(SubprocessTest, GivesTheSubreaperSettingBack) {
  OutputOf("true");
  int subreaper = 1;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  EXPECT_EQ(subreaper, 0);
}

TEST(SubprocessTest, TheEndOfAnEarlierChildSparesALaterOne) {
  TestPipe first_out, second_out;
  auto first = Subprocess::Spawn(Shell("echo x; sleep 60", first_out));
  // Its orphan is adopted by this process, and belongs to the second child.
  auto second = Subprocess::Spawn(Shell("(sleep 60 & echo $!); sleep 60", second_out));
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  const auto orphan = ParseInteger(second_out.ReadLine());
  ASSERT_TRUE(orphan);
  first->Spare(*second);
  first->End(0);
  EXPECT_FALSE(second->Wait(0).has_value());
  EXPECT_TRUE(IsAlive(*orphan));
  second->End(0);
  EXPECT_FALSE(IsAlive(*orphan));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace tench::subprocess_test
