// SPDX-License-Identifier: Apache-2.0
#include "worker/process_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace tench::process_facts_test {
namespace {

TEST(ProcessFactsTest, ItsOwnLibrariesAreFiles) {
  for (const std::string& library : LoadedLibraries())
    EXPECT_EQ(access(library.c_str(), R_OK), 0) << library;
}

TEST(ProcessFactsTest, GeneratedCodeIsExecutableMemoryOfNoFile) {
  EXPECT_EQ(
      GeneratedCodeIn("7f0000001000-7f0000003000 r-xp 00000000 00:00 0 \n"
                      "7f0000003000-7f0000004000 rwxp 00000000 00:00 0 [anon:jit]\n"
                      "7f0000004000-7f0000005000 r-xs 00000000 00:01 88 /memfd:jit (deleted)\n"
                      "7f0000005000-7f0000009000 r-xp 00001000 08:01 42 /lib/libc.so.6\n"
                      "7f0000009000-7f000000f000 rw-p 00000000 00:00 0 \n"
                      "7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0 [vdso]"),
      4 * 4096);
  constexpr size_t kBytes = 64 << 10;
  const int64_t before = GeneratedCodeBytes();
  void* code = mmap(nullptr, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  EXPECT_EQ(GeneratedCodeBytes(), before + static_cast<int64_t>(kBytes));
  munmap(code, kBytes);
}

TEST(ProcessFactsTest, PeakFollowsWhatIsTouchedAndFallsBackWhenReset) {
  constexpr size_t kBytes = size_t{64} << 20;
  const int64_t before = ResidentBytes();
  ASSERT_GT(before, 0);
  // mmap directly, because an allocator might keep the pages.
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBytes);
  EXPECT_GE(PeakResidentBytes(), before + static_cast<int64_t>(kBytes) / 2);
  munmap(block, kBytes);
  if (!ResetPeakResident())
    GTEST_SKIP() << "this kernel does not let a process reset its high-water mark";
  EXPECT_LT(PeakResidentBytes(), before + static_cast<int64_t>(kBytes) / 2);
}

TEST(ProcessFactsTest, LooksAtAnotherProcessTooWhileThereIsOne) {
  EXPECT_GT(PeakResidentBytes(getppid()), 0);
  EXPECT_GE(CpuNs(getppid()), 0);
  EXPECT_GT(CpuNs(getpid()), 0);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(PeakResidentBytes(child), 0);
  EXPECT_EQ(CpuNs(child), 0);
  EXPECT_EQ(PeakResidentBytes(0), 0);
  EXPECT_EQ(CpuNs(0), 0);
}

TEST(ProcessFactsTest, SeesTheProcessorsFlushToZeroFlag) {
#if defined(__x86_64__)
  const unsigned control = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(control | (1u << 15));
  EXPECT_EQ(FlushToZero(), "on");
  __builtin_ia32_ldmxcsr(control & ~(1u << 15));
  EXPECT_EQ(FlushToZero(), "off");
  __builtin_ia32_ldmxcsr(control);
#else
  EXPECT_THAT(FlushToZero(), testing::AnyOf("on", "off", "unknown"));
#endif
}

#if defined(__x86_64__)
int64_t OwnCpuNs() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// Computes for a while with the mode, then waits like an idle thread of a pool.
class ModeThread {
 public:
  ModeThread(bool flush, bool computes)
      : thread_([this, flush, computes] {
          if (flush) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | (1u << 15));
          // Its own CPU time, because a loaded machine may withhold the CPU.
          while (computes && OwnCpuNs() < 50'000'000) {
          }
          ready_ = true;
          ready_.notify_all();
          end_.wait(false);
        }) {
    ready_.wait(false);
  }
  ~ModeThread() {
    end_ = true;
    end_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<bool> ready_{false}, end_{false};
  std::thread thread_;
};

TEST(ProcessFactsTest, ReadsTheFlushToZeroModeOfTheThreadsThatComputed) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer defers the signal that asks a thread for its mode";
#endif
  const ThreadTimes before = ReadThreadTimes();
  ASSERT_FALSE(before.empty());
  const ModeThread flushing(true, true);
  {
    const ModeThread idle(false, false);
    EXPECT_EQ(FlushToZeroSince(before), "on") << "neither this thread nor an idle one computed";
  }
  const ModeThread other(false, true);
  EXPECT_EQ(FlushToZeroSince(before), "mixed");
  EXPECT_EQ(FlushToZero(), "off") << "this thread's own mode is unchanged";
}
#endif

}  // namespace
}  // namespace tench::process_facts_test
