// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/aligned_block.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include "base/file.h"

namespace tench::native::aligned_block_test {
namespace {

TEST(AlignedBlockTest, IsZeroedPageAlignedAndWritable) {
  const AlignedBlock block = *AlignedBlock::Make(3 << 20);
  EXPECT_EQ(block.bytes(), 3 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data()) % 4096, 0u);
  for (int64_t i = 0; i < block.bytes(); i += 4095) ASSERT_EQ(block.data()[i], 0) << i;
  block.data()[block.bytes() - 1] = 7;
  EXPECT_EQ(block.data()[block.bytes() - 1], 7);
}

TEST(AlignedBlockTest, NoBytesNeedNoMapping) {
  const AlignedBlock block = *AlignedBlock::Make(0);
  EXPECT_EQ(block.data(), nullptr);
  EXPECT_EQ(block.bytes(), 0);
}

TEST(AlignedBlockTest, MovingTransfersTheMapping) {
  AlignedBlock first = *AlignedBlock::Make(8192);
  char* const data = first.data();
  data[5] = 3;
  AlignedBlock second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.bytes(), 0);
  AlignedBlock third;
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.bytes(), 8192);
  EXPECT_EQ(third.data()[5], 3);
}

TEST(AlignedBlockTest, MoreThanTheAddressSpaceIsOutOfMemory) {
  const Result<AlignedBlock> block = AlignedBlock::Make(int64_t{1} << 62);
  ASSERT_FALSE(block.ok());
  EXPECT_EQ(block.error().kind, ErrorKind::kOutOfMemory);
}

// The machine that AvailableBytes sees. A file without text does not exist.
struct FakeMachine {
  std::string meminfo;
  std::optional<std::string> memory_max, memory_current;
};

// Hides the real files behind those in `folder`, in a mount namespace of this process's own.
bool MountOver(const std::filesystem::path& folder) {
  // Without root's rights, a user namespace grants the right to mount.
  return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount((folder / "meminfo").c_str(), "/proc/meminfo", nullptr, MS_BIND, nullptr) == 0 &&
         mount((folder / "cgroup").c_str(), "/sys/fs/cgroup", nullptr, MS_BIND, nullptr) == 0;
}

// AvailableBytes on that machine, from a child process; nothing if it may not mount.
std::optional<int64_t> AvailableOn(const FakeMachine& machine) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-machine");
  const std::filesystem::path cgroup = folder.path() / "cgroup";
  std::filesystem::create_directory(cgroup);
  std::ofstream(folder.path() / "meminfo") << machine.meminfo;
  if (machine.memory_max) std::ofstream(cgroup / "memory.max") << *machine.memory_max;
  if (machine.memory_current) std::ofstream(cgroup / "memory.current") << *machine.memory_current;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (!MountOver(folder.path())) _exit(1);
    const int64_t bytes = AvailableBytes();
    _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
  }
  close(ends[1]);
  int64_t bytes = 0;
  const bool answered = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
  close(ends[0]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return answered ? std::optional(bytes) : std::nullopt;
}

TEST(AvailableBytesTest, IsTheLeastOfTheMachinesAndTheControlGroupsRest) {
  constexpr int64_t kMiB = 1 << 20;
  const std::string meminfo =
      "MemTotal:       4194304 kB\nMemFree:          65536 kB\nMemAvailable:   2097152 kB\n";
  const auto in_group = [&](const std::string& max, const std::string& current) {
    return AvailableOn({meminfo, max, current});
  };
  if (!AvailableOn({meminfo, {}, {}})) GTEST_SKIP() << "mount namespaces are not permitted here";
  EXPECT_EQ(AvailableOn({meminfo, {}, {}}), 2048 * kMiB) << "no control group";
  EXPECT_EQ(in_group("max\n", "1048576\n"), 2048 * kMiB) << "an unlimited one";
  EXPECT_EQ(in_group("1073741824\n", "268435456\n"), 768 * kMiB);
  EXPECT_EQ(in_group("8589934592\n", "268435456\n"), 2048 * kMiB) << "more than the machine has";
  EXPECT_EQ(in_group("1073741824\n", "1073750016\n"), 0) << "the limit was lowered below the use";
  EXPECT_EQ(AvailableOn({meminfo, "1073741824\n", {}}), 2048 * kMiB) << "the use is unknown";
  EXPECT_EQ(AvailableOn({"MemTotal: 4194304 kB\n", {}, {}}), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(AvailableOn({"", "1073741824\n", "268435456\n"}), 768 * kMiB);
}

TEST(AlignedBlockTest, AvailableBytesAreSomeAndNotMoreThanAnyMachineHas) {
  EXPECT_GT(AvailableBytes(), 1 << 20);
  EXPECT_LT(AvailableBytes(), int64_t{1} << 50);
}

}  // namespace
}  // namespace tench::native::aligned_block_test
