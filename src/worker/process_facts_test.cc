// SPDX-License-Identifier: Apache-2.0
#include "worker/process_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace tench {
namespace {

TEST(ProcessFactsTest, ListsEachLibraryOnceWithoutTheRuntimeThatEveryProcessHas) {
  const std::string maps =
      "5581-5582 r--p 00000000 fe:01 1 /usr/bin/tench-worker-x\n"
      "7f01-7f02 r--p 00000000 fe:01 2 /usr/lib/libopenblasp-r0.3.21.so\n"
      "7f02-7f03 r-xp 00001000 fe:01 2 /usr/lib/libopenblasp-r0.3.21.so\n"
      "7f03-7f04 r-xp 00001000 fe:01 3 /usr/lib/x86_64-linux-gnu/libc.so.6\n"
      "7f04-7f05 r-xp 00001000 fe:01 4 /usr/lib/x86_64-linux-gnu/libcblas.so.3\n"
      "7f05-7f06 r-xp 00001000 fe:01 5 /opt/my libs/libdnnl.so.3.1 (deleted)\n"
      "7f06-7f07 rw-p 00000000 00:00 0 [heap]\n"
      "7f07-7f08 r--s 00000000 fe:01 6 /usr/lib/locale/C.utf8/LC_CTYPE\n"
      "7f08-7f09 r-xp 00001000 fe:01 7 /usr/lib/x86_64-linux-gnu/libmkl_core.so.2\n"
      "7f09-7f0a r-xp 00001000 fe:01 8 /lib64/ld-linux-x86-64.so.2\n";
  EXPECT_THAT(LibrariesIn(maps),
              testing::ElementsAre(
                  "/usr/lib/libopenblasp-r0.3.21.so", "/usr/lib/x86_64-linux-gnu/libcblas.so.3",
                  "/opt/my libs/libdnnl.so.3.1", "/usr/lib/x86_64-linux-gnu/libmkl_core.so.2"));
}

TEST(ProcessFactsTest, PeakFollowsWhatIsTouchedAndFallsBackWhenReset) {
  constexpr size_t kBytes = size_t{64} << 20;
  const int64_t before = ResidentBytes();
  ASSERT_GT(before, 0);
  // Straight from the kernel and straight back: an allocator might keep the pages.
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

}  // namespace
}  // namespace tench
