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

TEST(ProcessFactsTest, ItsOwnLibrariesAreFiles) {
  for (const std::string& library : LoadedLibraries())
    EXPECT_EQ(access(library.c_str(), R_OK), 0) << library;
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

}  // namespace
}  // namespace tench
