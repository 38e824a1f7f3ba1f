// SPDX-License-Identifier: Apache-2.0
#include "machine/sampler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "machine/fixture_folder.h"

namespace tench::sampler_test {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct FakeProcess {
  pid_t pid = 0, parent = 1, group = 0, session = 0;
  std::string name = "worker";
  int64_t start_ticks = 500;
  int64_t rss_kib = 1000, swap_kib = 0, hwm_kib = 0;
  int64_t cpu_ticks = 0, waited_ticks = 0;
  int64_t voluntary = 0, involuntary = 0;
  int64_t threads = 1;
};

class SamplerTest : public testing::Test {
 protected:
  void Write(const FakeProcess& p) const {
    proc_.Write(fmt::format("{}/stat", p.pid),
                fmt::format("{} ({}) S {} {} {} 0 -1 0 100 10 5 2 {} 0 {} 0 20 0 {} 0 {} 0 77 0\n",
                            p.pid, p.name, p.parent, p.group, p.session, p.cpu_ticks,
                            p.waited_ticks, p.threads, p.start_ticks));
    proc_.Write(fmt::format("{}/status", p.pid),
                fmt::format("Name:\tVmRSS: 9 kB\nState:\tS (sleeping)\nVmHWM:\t{} kB\nVmRSS:\t {} "
                            "kB\nVmSwap:\t{} kB\n"
                            "voluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n",
                            p.hwm_kib, p.rss_kib, p.swap_kib, p.voluntary, p.involuntary));
  }
  void WriteChildren(pid_t pid, pid_t thread, std::string_view children) const {
    proc_.Write(fmt::format("{}/task/{}/children", pid, thread), children);
  }
  void WriteThread(pid_t pid, pid_t thread, int64_t voluntary, int64_t involuntary) const {
    proc_.Write(fmt::format("{}/task/{}/status", pid, thread),
                fmt::format("voluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n",
                            voluntary, involuntary));
  }

  FixtureFolder proc_;
  const int64_t tick_ns_ = kSecond / sysconf(_SC_CLK_TCK);
};

TEST_F(SamplerTest, ReadsEveryValueOfOneProcess) {
  Write({.pid = 10,
         .name = "a (b) c",
         .rss_kib = 2048,
         .swap_kib = 64,
         .hwm_kib = 4096,
         .cpu_ticks = 300,
         .waited_ticks = 20,
         .voluntary = 7,
         .involuntary = 8});
  ProcessSampler sampler(proc_.path());
  const Sample sample = sampler.Take(10, 12345);
  EXPECT_EQ(sample.time_ns, 12345);
  EXPECT_EQ(sample.processes, 1);
  EXPECT_EQ(sample.threads, 1);
  EXPECT_EQ(sample.rss_bytes, 2048 << 10);
  EXPECT_EQ(sample.swap_bytes, 64 << 10);
  EXPECT_EQ(sample.hwm_bytes, 4096 << 10);
  EXPECT_EQ(sample.cpu_ns, 320 * tick_ns_);
  EXPECT_EQ(sample.minor_faults, 110);
  EXPECT_EQ(sample.major_faults, 7);
  EXPECT_EQ(sample.voluntary_switches, 7);
  EXPECT_EQ(sample.involuntary_switches, 8);
}

TEST_F(SamplerTest, FollowsTheChildrenOfEveryThread) {
  Write({.pid = 10, .cpu_ticks = 1, .threads = 2});
  WriteThread(10, 10, 1, 10);
  WriteThread(10, 11, 2, 20);
  WriteChildren(10, 10, "20 ");
  WriteChildren(10, 11, "21 22 ");
  Write({.pid = 20, .parent = 10, .cpu_ticks = 2, .voluntary = 4});
  Write({.pid = 21, .parent = 10, .cpu_ticks = 4});
  Write({.pid = 22, .parent = 10, .session = 22, .cpu_ticks = 8});
  WriteChildren(22, 22, "30");
  Write({.pid = 30, .parent = 22, .cpu_ticks = 16, .involuntary = 40});
  Write({.pid = 40, .parent = 1, .cpu_ticks = 32});
  ProcessSampler sampler(proc_.path());
  const Sample sample = sampler.Take(10, 0);
  EXPECT_EQ(sample.processes, 5);
  EXPECT_EQ(sample.threads, 6);
  EXPECT_EQ(sample.cpu_ns, 31 * tick_ns_);
  EXPECT_EQ(sample.rss_bytes, 5000 << 10);
  EXPECT_EQ(sample.voluntary_switches, 7);
  EXPECT_EQ(sample.involuntary_switches, 70);
  EXPECT_THAT(sampler.Pids(), testing::UnorderedElementsAre(10, 20, 21, 22, 30));
}

TEST_F(SamplerTest, ScansByParentSessionAndGroupWhereThereAreNoChildrenFiles) {
  Write({.pid = 10, .group = 10, .session = 10, .cpu_ticks = 1});
  Write({.pid = 11, .parent = 1, .session = 10, .cpu_ticks = 2});  // an orphan in the same session
  Write({.pid = 12, .parent = 1, .group = 10, .session = 9, .cpu_ticks = 4});
  Write({.pid = 9, .parent = 20, .session = 9, .cpu_ticks = 8});  // a grandchild with a smaller id
  Write({.pid = 20, .parent = 10, .session = 20, .cpu_ticks = 16});
  Write({.pid = 30, .parent = 1, .session = 30, .cpu_ticks = 32});
  proc_.Write("self/stat", "not a process");
  proc_.Write("12x/stat", "nor this");
  ProcessSampler sampler(proc_.path());
  EXPECT_EQ(sampler.Take(10, 0).cpu_ns, 31 * tick_ns_);
  // New processes are classified once; processes that ended are forgotten.
  Write({.pid = 31, .parent = 20, .cpu_ticks = 64});
  Write({.pid = 32, .parent = 30, .cpu_ticks = 128});
  proc_.Remove("9");
  EXPECT_EQ(sampler.Take(10, 0).cpu_ns, (31 - 8 + 64) * tick_ns_);
  proc_.Remove("30");
  EXPECT_EQ(sampler.Take(10, 0).processes, 5);
  Write({.pid = 30, .parent = 31, .start_ticks = 900, .cpu_ticks = 256});
  EXPECT_EQ(sampler.Take(10, 0).cpu_ns, (31 - 8 + 64 + 256) * tick_ns_);
}

TEST_F(SamplerTest, AProcessThatIsNotThereIsAnEmptySample) {
  ProcessSampler sampler(proc_.path());
  EXPECT_EQ(sampler.Take(10, 5), (Sample{.time_ns = 5}));
  ProcessSampler nowhere(proc_.path() / "missing");
  EXPECT_EQ(nowhere.Take(10, 5), (Sample{.time_ns = 5}));
}

TEST_F(SamplerTest, AProcessThatVanishesWhileItIsReadIsLeftOut) {
  Write({.pid = 10, .cpu_ticks = 1});
  WriteChildren(10, 10, "20 21 22 ");
  Write({.pid = 20, .parent = 10, .cpu_ticks = 2});
  proc_.Remove("20/status");  // ended between the reads of its two files
  proc_.Write("21/stat", "21 (half a li");
  ProcessSampler sampler(proc_.path());  // and 22 before the first read
  const Sample sample = sampler.Take(10, 0);
  EXPECT_EQ(sample.processes, 1);
  EXPECT_EQ(sample.cpu_ns, tick_ns_);
  EXPECT_EQ(sample.minor_faults, 110);
}

TEST_F(SamplerTest, AThreadThatVanishesCostsOnlyItsSwitches) {
  Write({.pid = 10, .threads = 2});
  WriteThread(10, 10, 3, 4);
  proc_.Write("10/task/11/comm", "ending");
  ProcessSampler sampler(proc_.path());
  const Sample sample = sampler.Take(10, 0);
  EXPECT_EQ(sample.voluntary_switches, 3);
  EXPECT_EQ(sample.involuntary_switches, 4);
}

TEST_F(SamplerTest, RemembersAnOrphanButNotItsNumber) {
  Write({.pid = 10});
  WriteChildren(10, 10, "20");
  Write({.pid = 20, .parent = 10});
  WriteChildren(20, 20, "30");
  Write({.pid = 30, .parent = 20, .start_ticks = 700});
  ProcessSampler sampler(proc_.path());
  EXPECT_EQ(sampler.Take(10, 0).processes, 3);
  WriteChildren(10, 10, "");
  proc_.Remove("20");
  Write({.pid = 30, .parent = 1, .start_ticks = 700});
  EXPECT_EQ(sampler.Take(10, 0).processes, 2);
  Write({.pid = 30, .parent = 1, .start_ticks = 900});
  EXPECT_EQ(sampler.Take(10, 0).processes, 1) << "another process has got its number";
}

TEST_F(SamplerTest, ReadsTheThreadsOfACrowdedProcessOnceASecond) {
  Write({.pid = 10, .threads = 9});
  for (pid_t thread = 10; thread < 19; ++thread) WriteThread(10, thread, 1, 2);
  ProcessSampler sampler(proc_.path());
  EXPECT_EQ(sampler.Take(10, kSecond).voluntary_switches, 9);
  for (pid_t thread = 10; thread < 19; ++thread) WriteThread(10, thread, 5, 6);
  EXPECT_EQ(sampler.Take(10, kSecond + kSecond / 2).voluntary_switches, 9);
  const Sample later = sampler.Take(10, 2 * kSecond);
  EXPECT_EQ(later.voluntary_switches, 45);
  EXPECT_EQ(later.involuntary_switches, 54);
}

TEST_F(SamplerTest, AnotherRootStartsAfresh) {
  Write({.pid = 10, .cpu_ticks = 1});
  WriteChildren(10, 10, "20");
  Write({.pid = 20, .parent = 10, .hwm_kib = 8, .cpu_ticks = 2});
  ProcessSampler sampler(proc_.path());
  EXPECT_EQ(sampler.Take(10, 0).processes, 2);
  const Sample sample = sampler.Take(20, 0);
  EXPECT_EQ(sample.processes, 1);
  EXPECT_EQ(sample.hwm_bytes, 8 << 10);
}

TEST(SamplerOnLinuxTest, SeesItsOwnMemoryThreadsAndTime) {
  std::thread([] {}).join();  // ThreadSanitizer starts a background thread with the first one
  ProcessSampler sampler;
  const Sample before = sampler.Take(getpid(), NowNs());
  ASSERT_GE(before.processes, 1);
  constexpr size_t kBytes = 64 << 20;
  std::vector<char> memory(kBytes);
  std::memset(memory.data(), 1, memory.size());
  // The kernel counts in ticks, so this must run for several of them.
  volatile uint64_t sink = 0;
  const int64_t start_ns = NowNs();
  while (sampler.Take(getpid(), 0).cpu_ns < before.cpu_ns + 30'000'000 &&
         NowNs() < start_ns + 60 * kSecond) {
    for (int i = 0; i < 1'000'000; ++i) sink = sink + static_cast<uint64_t>(i);
  }
  std::thread waiting([] { usleep(300'000); });
  const Sample after = sampler.Take(getpid(), NowNs());
  waiting.join();
  EXPECT_GE(after.rss_bytes - before.rss_bytes, static_cast<int64_t>(kBytes * 9 / 10));
  EXPECT_GE(after.hwm_bytes, after.rss_bytes * 9 / 10);
  EXPECT_GE(after.cpu_ns, before.cpu_ns + 30'000'000);
  EXPECT_EQ(after.threads, before.threads + 1);
  EXPECT_GT(after.minor_faults, before.minor_faults);
  EXPECT_EQ(memory[kBytes / 2], 1);
}

TEST(SamplerOnLinuxTest, SeesAChildThatMadeItsOwnSession) {
  ProcessSampler sampler;
  const int64_t alone = sampler.Take(getpid(), 0).processes;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(sampler.Take(getpid(), 0).processes, alone + 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(sampler.Take(getpid(), 0).processes, alone);
  EXPECT_EQ(sampler.Take(child, 0).processes, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(SamplerOnLinuxTest, SurvivesProcessesThatComeAndGoWhileItReads) {
  const pid_t parent = fork();
  if (parent == 0) {
    for (;;) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      waitpid(child, nullptr, 0);
    }
  }
  ProcessSampler sampler;
  for (int i = 0; i < 500; ++i) {
    const Sample sample = sampler.Take(parent, i);
    EXPECT_GE(sample.processes, 1);
    EXPECT_LE(sample.processes, 3);
  }
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
}

}  // namespace
}  // namespace tench::sampler_test
