// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.h"

#include <gtest/gtest.h>

#include "machine/fixture_folder.h"

namespace tench::cgroup_test {
namespace {

TEST(CgroupTest, MaxIsNoLimit) {
  FixtureFolder root;
  root.Write("proc/self/cgroup", "0::/user.slice/session\n");
  root.Write("sys/fs/cgroup/user.slice/session/memory.max", "max\n");
  root.Write("sys/fs/cgroup/user.slice/session/memory.swap.max", "max\n");
  root.Write("sys/fs/cgroup/user.slice/session/cpu.max", "max 100000\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.version, 2);
  EXPECT_FALSE(limits.memory_bytes);
  EXPECT_FALSE(limits.swap_bytes);
  EXPECT_FALSE(limits.cpus);
}

TEST(CgroupTest, TheTightestGroupAboveCounts) {
  FixtureFolder root;
  root.Write("proc/self/cgroup", "0::/a/b:1/c\n");
  root.Write("sys/fs/cgroup/a/b:1/c/memory.max", "8000\n");
  root.Write("sys/fs/cgroup/a/b:1/memory.max", "5000\n");
  root.Write("sys/fs/cgroup/a/memory.max", "6000\n");
  root.Write("sys/fs/cgroup/a/b:1/c/memory.swap.max", "0\n");
  root.Write("sys/fs/cgroup/a/b:1/c/cpu.max", "400000 100000\n");
  root.Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.memory_bytes, 5000);
  EXPECT_EQ(limits.swap_bytes, 0);
  EXPECT_EQ(limits.cpus, 1.5);
}

TEST(CgroupTest, InsideAContainerTheRootOfTheMountCounts) {
  FixtureFolder root;
  root.Write("proc/self/cgroup", "0::/../../docker/abc\n");
  root.Write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(ReadCgroupLimits(root.path()).memory_bytes, 1 << 30);
}

TEST(CgroupTest, VersionOneHasItsOwnFilesAndItsOwnWayToSayNoLimit) {
  FixtureFolder root;
  root.Write("proc/self/cgroup", "5:memory:/job/1\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/\n");
  root.Write("sys/fs/cgroup/memory/job/1/memory.limit_in_bytes", "9223372036854771712\n");
  root.Write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root.Write("sys/fs/cgroup/unified/cgroup.procs", "\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.version, 1);
  EXPECT_EQ(limits.memory_bytes, int64_t{2} << 30);
  EXPECT_EQ(limits.cpus, 0.5);
}

TEST(CgroupTest, AMachineWithoutGroupsHasNoLimits) {
  FixtureFolder root;
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.version, 0);
  EXPECT_FALSE(limits.memory_bytes);
}

TEST(CgroupTest, ThrottledTimeIsThatOfTheGroupAndItsAncestors) {
  FixtureFolder root;
  EXPECT_FALSE(ReadThrottledNs(root.path()).has_value());
  root.Write("proc/self/cgroup", "0::/a/b\n");
  root.Write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 5\nnr_throttled 2\nthrottled_usec 300\n");
  root.Write("sys/fs/cgroup/a/cpu.stat", "nr_throttled 1\nthrottled_usec 40\n");
  root.Write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  EXPECT_EQ(ReadThrottledNs(root.path()), 340'000);
  root.Write("proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/job/cpu.stat", "nr_periods 9\nthrottled_time 77\n");
  EXPECT_EQ(ReadThrottledNs(root.path()), 77);
}

}  // namespace
}  // namespace tench::cgroup_test
