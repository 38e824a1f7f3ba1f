// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "cli/test_terminal.h"

namespace tench::interrupt_test {
namespace {

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

bool IsDefault(int signal) {
  struct sigaction action = {};
  EXPECT_EQ(sigaction(signal, nullptr, &action), 0);
  return action.sa_handler == SIG_DFL;
}

TEST(InterruptTest, EachSignalRequestsAStopOnce) {
  for (const int signal : kStopSignals) {
    SCOPED_TRACE(strsignal(signal));
    const Interrupt interrupt;
    EXPECT_FALSE(interrupt.stop().stop_requested()) << "an earlier request is forgotten";
    raise(signal);
    EXPECT_TRUE(interrupt.stop().stop_requested());
  }
}

TEST(InterruptTest, TheDefaultHandlersComeBack) {
  {
    const Interrupt interrupt;
    for (const int signal : kStopSignals) EXPECT_FALSE(IsDefault(signal)) << strsignal(signal);
  }
  for (const int signal : kStopSignals) EXPECT_TRUE(IsDefault(signal)) << strsignal(signal);
}

TEST(InterruptTest, AClosedPipeIsAnErrorInsteadOfTheEnd) {
  const Interrupt interrupt;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcessWithItsNumber) {
  for (const int signal : kStopSignals) {
    EXPECT_EXIT(
        {
          const Interrupt interrupt;
          raise(SIGINT);
          raise(signal);
          _exit(0);
        },
        testing::ExitedWithCode(128 + signal), "");
  }
}

// A child process whose controlling terminal is `terminal`. It writes 'r' when it is ready and 's'
// when a stop is requested; then it runs on.
[[noreturn]] void RunInSession(const TestTerminal& terminal) {
  alarm(60);  // if the parent fails, nothing else ends it
  setsid();
  const int slave = terminal.OpenSlave();
  ioctl(slave, TIOCSCTTY, 0);
  const auto say = [slave](char letter) { return write(slave, &letter, 1) == 1; };
  const Interrupt interrupt;
  if (!say('r')) _exit(1);
  while (!interrupt.stop().stop_requested()) usleep(1000);
  if (!say('s')) _exit(1);
  for (;;) pause();
}

TEST(InterruptTest, CtrlCOnATerminalStopsAndASecondOneEnds) {
  constexpr char kCtrlC = 3;
  constexpr int kWaitMs = 20'000;
  const TestTerminal terminal(80);
  const pid_t child = fork();
  if (child == 0) RunInSession(terminal);
  ASSERT_EQ(terminal.Read(kWaitMs), "r");
  terminal.Type(kCtrlC);
  std::string said;
  while (said.find('s') == std::string::npos) {
    const std::string more = terminal.Read(kWaitMs);
    ASSERT_NE(more, "") << "no answer to Ctrl-C, only '" << said << "'";
    said += more;
  }
  EXPECT_EQ(said, "^Cs");
  terminal.Type(kCtrlC);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
}

}  // namespace
}  // namespace tench::interrupt_test
