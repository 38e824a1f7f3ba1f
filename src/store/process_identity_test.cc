// SPDX-License-Identifier: Apache-2.0
#include "store/process_identity.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace tench::process_identity_test {
namespace {

TEST(ProcessIdentityTest, ReadsTheStartTimeBehindAnUglyCommandName) {
  const std::string tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
  EXPECT_EQ(StartTicks("12 (tench)" + tail), 4711);
  EXPECT_EQ(StartTicks("12 (a) Z (b c)" + tail), 4711);
}

TEST(ProcessIdentityTest, AZombieAndGarbageAreNoRunningProcess) {
  EXPECT_EQ(StartTicks("12 (tench) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"), 0);
  EXPECT_EQ(StartTicks(""), 0);
  EXPECT_EQ(StartTicks("12 (tench) S 1 2"), 0);
}

TEST(ProcessIdentityTest, ThisProcessIsAlive) {
  const ProcessIdentity self = ThisProcess();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_GT(self.start_ticks, 0);
  EXPECT_FALSE(self.boot_id.empty());
  EXPECT_EQ(LifeOf(self), ProcessLife::kAlive);
}

TEST(ProcessIdentityTest, ANumberThatAnotherProcessHasTakenIsDead) {
  ProcessIdentity other = ThisProcess();
  other.start_ticks -= 1;
  EXPECT_EQ(LifeOf(other), ProcessLife::kDead);
}

TEST(ProcessIdentityTest, AProcessThatEndedIsDeadEvenBeforeItIsReaped) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ProcessIdentity identity = ThisProcess();
  identity.pid = child;
  identity.start_ticks = StartTicks(*ReadFile(fmt::format("/proc/{}/stat", child)));
  EXPECT_EQ(LifeOf(identity), ProcessLife::kAlive);
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(LifeOf(identity), ProcessLife::kDead);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(LifeOf(identity), ProcessLife::kDead);
}

TEST(ProcessIdentityTest, AnEarlierBootIsDeadAndAnotherMachineUnknown) {
  ProcessIdentity other = ThisProcess();
  other.boot_id = "an earlier one";
  EXPECT_EQ(LifeOf(other), ProcessLife::kDead);
  other.machine_id = "another one";
  EXPECT_EQ(LifeOf(other), ProcessLife::kUnknown);
}

}  // namespace
}  // namespace tench::process_identity_test
