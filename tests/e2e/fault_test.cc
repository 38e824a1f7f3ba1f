// SPDX-License-Identifier: Apache-2.0
// Kills a sweep at random times and restarts it: every (cell, round) must be stored exactly once,
// and no worker may remain.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "store/store.h"

namespace tench::fault_test {
namespace {

constexpr const char* kSuite =
    "name: kill\n"
    "rounds: 4\n"
    "worker: reference\n"
    "network: mlp\n"
    "batch: [1, 2, 3, 4, 5]\n"
    "threads: 1\n"
    "steps: 2\n";

// A folder with the suite, and the command line of its sweep.
class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / "kill.yaml", kSuite).ok());
    srand(4711);
  }

  pid_t Start() {
    const pid_t pid = fork();
    if (pid == 0) {
      if (chdir(folder_.path().c_str()) != 0) _exit(99);
      setenv("TMPDIR", folder_.path().c_str(), 1);
      const std::string tench = std::string(TENCH_BIN_DIR) + "/tench";
      if (freopen("log.txt", "a", stderr) == nullptr) _exit(98);
      execl(tench.c_str(), "tench", "sweep", "kill.yaml", "--db", "r.db", "--no-repeat", nullptr);
      _exit(97);
    }
    return pid;
  }

  static int Wait(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }

  std::map<std::pair<int64_t, std::string>, int> Stored() {
    std::map<std::pair<int64_t, std::string>, int> stored;
    Result<Store> store = Store::Open(folder_.path() / "r.db", Store::Mode::kReadOnly);
    if (!store.ok()) return stored;
    const Status walked = store->ForEachRun({}, [&](const RunRecord& run) {
      if (run.outcome == Outcome::kOk) ++stored[{run.round, run.cell_id}];
      return true;
    });
    EXPECT_TRUE(walked.ok());
    return stored;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-sweep");
};

TEST_F(SweepTest, ResumesAfterKillWithoutLosingOrRepeatingFinishedRuns) {
  size_t seen = 0;
  for (int i = 0; i < 50; ++i) {
    const pid_t pid = Start();
    usleep(static_cast<useconds_t>(rand() % 150'000));
    kill(pid, SIGKILL);
    Wait(pid);
    const size_t stored = Stored().size();
    EXPECT_GE(stored, seen) << "a stored run was lost";
    seen = stored;
  }
  const int status = Wait(Start());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << *ReadFile(folder_.path() / "log.txt");
  const auto stored = Stored();
  EXPECT_EQ(stored.size(), 20u);
  for (const auto& [key, count] : stored)
    EXPECT_EQ(count, 1) << "round " << key.first << " cell " << key.second;
}

TEST_F(SweepTest, AnInterruptedSweepSaysSoAndGoesOn) {
  const pid_t pid = Start();
  // Before its first run is stored, tench may not handle signals yet.
  while (Stored().empty() && waitpid(pid, nullptr, WNOHANG) == 0) usleep(10'000);
  kill(pid, SIGINT);
  const int status = Wait(pid);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_TRUE(WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0);
  EXPECT_EQ(Wait(Start()), 0);
  EXPECT_EQ(Stored().size(), 20u);
}

TEST_F(SweepTest, TwoSweepsOfOneStudyDoNotWorkAgainstEachOther) {
  const pid_t first = Start();
  const pid_t second = Start();
  const int a = Wait(first), b = Wait(second);
  // One may be rejected (exit code 2, naming the other), or find all runs done; together they store
  // each run once.
  EXPECT_TRUE(WIFEXITED(a) && WIFEXITED(b));
  EXPECT_TRUE(WEXITSTATUS(a) == 0 || WEXITSTATUS(b) == 0);
  for (const auto& [key, count] : Stored()) EXPECT_EQ(count, 1);
  EXPECT_EQ(Stored().size(), 20u);
}

}  // namespace
}  // namespace tench::fault_test
