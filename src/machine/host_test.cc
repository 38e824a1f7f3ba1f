// SPDX-License-Identifier: Apache-2.0
#include "machine/host.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "machine/fixture_folder.h"

namespace tench::host_test {
namespace {

// Two cores of two threads each.
class HostTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("TENCH_MACHINE");
    std::string cpuinfo;
    for (int cpu = 0; cpu < 4; ++cpu) {
      cpuinfo += fmt::format(
          "processor\t: {}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
          "model name\t: Intel(R) Xeon(R) Platinum 8480+\nstepping\t: 8\nmicrocode\t: "
          "0x2b000590\nphysical id\t: 0\n"
          "core id\t\t: {}\n"
          "flags\t\t: fpu sse4_2 avx avx2 fma f16c avx512f avx512_bf16 avx512_vnni amx_tile "
          "avx_vnni\n\n",
          cpu, cpu / 2);
      const std::string folder = fmt::format("sys/devices/system/cpu/cpu{}/", cpu);
      root_.Write(folder + "topology/physical_package_id", "0\n");
      root_.Write(folder + "topology/core_id", fmt::format("{}\n", cpu / 2));
      root_.Write(folder + "topology/thread_siblings_list", cpu < 2 ? "0-1\n" : "2-3\n");
      root_.Write(folder + "cpufreq/scaling_governor", "performance\n");
    }
    root_.Write("proc/cpuinfo", cpuinfo);
    root_.Write("sys/devices/system/cpu/online", "0-3\n");
    root_.Write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    root_.Write("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    root_.Write("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    root_.Write("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n");
    root_.Write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n");
    root_.Write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    root_.Write("sys/devices/system/cpu/smt/active", "1\n");
    root_.Write("sys/devices/system/node/online", "0\n");
    root_.Write("proc/self/status", "Name:\ttench\nCpus_allowed:\te\nCpus_allowed_list:\t1-3\n");
    root_.Write("proc/self/cgroup", "0::/\n");
    root_.Write("sys/fs/cgroup/memory.max", "max\n");
    WriteMemory(24'682'416);
    root_.Write("proc/sys/kernel/hostname", "bench1\n");
    root_.Write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    root_.Write("proc/sys/vm/swappiness", "60\n");
    root_.Write("proc/loadavg", "0.50 1.25 2.00 3/456 7890\n");
    root_.Write("etc/os-release",
                "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    root_.Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    root_.Write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  }

  void WriteMemory(int64_t total_kib) const {
    root_.Write("proc/meminfo",
                fmt::format("MemTotal:       {} kB\nMemFree:  1 kB\nMemAvailable:   20000000 kB\n"
                            "SwapTotal:      1048576 kB\nSwapFree:       1000000 kB\n"
                            "HugePages_Total:       5\n",
                            total_kib));
  }
  HostFacts Read() const { return ReadHost(nullptr, root_.path()); }

  FixtureFolder root_;
};

TEST_F(HostTest, ReadsTheProcessor) {
  const CpuFacts cpu = Read().cpu;
  EXPECT_EQ(cpu.model, "Intel(R) Xeon(R) Platinum 8480+");
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model_number, 143);
  EXPECT_EQ(cpu.stepping, 8);
  EXPECT_EQ(cpu.logical, 4);
  EXPECT_EQ(cpu.cores, 2);
  EXPECT_EQ(cpu.sockets, 1);
  EXPECT_EQ(cpu.numa_nodes, 1);
  EXPECT_EQ(cpu.flags,
            (std::vector<std::string>{"amx_tile", "avx", "avx2", "avx512_bf16", "avx512_vnni",
                                      "avx512f", "avx_vnni", "f16c", "fma", "sse4_2"}));
  ASSERT_EQ(cpu.caches.size(), 1u);
  EXPECT_EQ(cpu.caches[0].bytes, 48 << 10);
  EXPECT_EQ(cpu.caches[0].shared_by, 2);
  EXPECT_EQ(cpu.max_khz, 3'800'000);
  EXPECT_EQ(cpu.governor, "performance");
  EXPECT_EQ(cpu.turbo, "on");
  EXPECT_EQ(cpu.smt, "on");
}

TEST_F(HostTest, ReadsTheRestOfTheMachine) {
  const HostFacts host = Read();
  EXPECT_EQ(host.machine, "bench1");
  EXPECT_EQ(host.allowed_cpus, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(host.memory_bytes, int64_t{24'682'416} << 10);
  EXPECT_EQ(host.available_bytes, int64_t{20'000'000} << 10);
  EXPECT_EQ(host.swap_bytes, int64_t{1} << 30);
  EXPECT_EQ(host.swappiness, 60);
  EXPECT_EQ(host.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(host.distribution, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(host.huge_pages, "madvise");
  EXPECT_EQ(host.clock_source, "tsc");
  EXPECT_DOUBLE_EQ(host.load[1], 1.25);
  EXPECT_EQ(host.virtualisation, "");
  EXPECT_EQ(host.container, "");
  EXPECT_FALSE(host.cgroup.memory_bytes);
  EXPECT_EQ(host.UsableMemoryBytes(), host.memory_bytes);
  EXPECT_DOUBLE_EQ(host.UsableCpus(), 3);
}

TEST_F(HostTest, GroupsNarrowWhatIsUsable) {
  root_.Write("sys/fs/cgroup/memory.max", "1073741824\n");
  root_.Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  const HostFacts host = Read();
  EXPECT_EQ(host.UsableMemoryBytes(), 1 << 30);
  EXPECT_DOUBLE_EQ(host.UsableCpus(), 1.5);
}

TEST_F(HostTest, AMissingGovernorIsNoFactAndADifferentOneIsMixed) {
  root_.Write("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(Read().cpu.governor, "mixed");
  for (int cpu = 0; cpu < 4; ++cpu)
    root_.Remove(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq", cpu));
  const HostFacts host = Read();
  EXPECT_EQ(host.cpu.governor, "");
  EXPECT_FALSE(HostToJson(host)["cpu"].contains("governor"));
}

TEST_F(HostTest, TurboIsReadFromEitherDriver) {
  root_.Write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(Read().cpu.turbo, "off");
  root_.Remove("sys/devices/system/cpu/intel_pstate");
  EXPECT_EQ(Read().cpu.turbo, "");
  root_.Write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  EXPECT_EQ(Read().cpu.turbo, "on");
}

TEST_F(HostTest, WithoutTopologyTheCoresComeFromCpuinfo) {
  root_.Remove("sys");
  const CpuFacts cpu = Read().cpu;
  EXPECT_EQ(cpu.logical, 4);
  EXPECT_EQ(cpu.cores, 2);
  EXPECT_EQ(cpu.sockets, 1);
}

TEST_F(HostTest, AnArmProcessorHasANameToo) {
  root_.Write("proc/cpuinfo",
              "processor\t: 0\nFeatures\t: fp asimd sve bf16 aes\nCPU implementer\t: 0x41\n"
              "CPU architecture: 8\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
  const CpuFacts cpu = Read().cpu;
  EXPECT_EQ(cpu.model, "Arm implementer 0x41 part 0xd0c");
  EXPECT_EQ(cpu.family, 8);
  EXPECT_EQ(cpu.model_number, 0xd0c);
  EXPECT_EQ(cpu.flags, (std::vector<std::string>{"asimd", "bf16", "sve"}));
}

TEST_F(HostTest, SignsOfAHypervisorOrAContainerAreSeen) {
  root_.Write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  root_.Write(".dockerenv", "");
  EXPECT_EQ(Read().virtualisation, "kvm");
  EXPECT_EQ(Read().container, "docker");
  root_.Write("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  EXPECT_EQ(Read().virtualisation, "") << "bare metal carries the name too";
  root_.Write("proc/cpuinfo", "processor\t: 0\nflags\t: fpu hypervisor\n");
  EXPECT_EQ(Read().virtualisation, "amazon");
}

TEST_F(HostTest, TheMachineIdIsStableAndTellsMachinesApart) {
  const std::string id = Read().machine_id;
  EXPECT_EQ(id.size(), 16u);
  WriteMemory(24'652'000);
  EXPECT_EQ(Read().machine_id, id) << "another kernel keeps a little more for itself";
  WriteMemory(49'000'000);
  EXPECT_NE(Read().machine_id, id);
  WriteMemory(24'682'416);
  root_.Write("proc/loadavg", "9.00 9.00 9.00 3/456 7890\n");
  EXPECT_EQ(Read().machine_id, id);
  setenv("TENCH_MACHINE", "laptop", 1);
  EXPECT_EQ(Read().machine, "laptop");
  EXPECT_NE(Read().machine_id, id);
  unsetenv("TENCH_MACHINE");
}

TEST_F(HostTest, AnEmptyMachineHasFactsAndJsonToo) {
  const FixtureFolder nothing;
  const HostFacts host = ReadHost(nullptr, nothing.path());
  EXPECT_EQ(host.machine, "");
  EXPECT_EQ(host.cpu.logical, 0);
  EXPECT_EQ(host.memory_bytes, 0);
  EXPECT_EQ(host.swappiness, -1);
  const Json json = HostToJson(host);
  EXPECT_FALSE(json.contains("kernel"));
  EXPECT_EQ(json["gpus"], Json::array());
}

TEST_F(HostTest, JsonCarriesTheFacts) {
  root_.Write("sys/fs/cgroup/memory.max", "1073741824\n");
  const Json json = HostToJson(Read());
  EXPECT_EQ(json["machine"], "bench1");
  EXPECT_EQ(json["cpu"]["cores"], 2);
  EXPECT_EQ(json["cpu"]["caches"][0],
            (Json{{"level", 1}, {"type", "Data"}, {"bytes", 49152}, {"shared_by", 2}}));
  EXPECT_EQ(json["allowed_cpus"], "1-3");
  EXPECT_EQ(json["cgroup"], (Json{{"version", 2}, {"memory_bytes", 1073741824}}));
  EXPECT_EQ(json["load"], (Json{0.5, 1.25, 2.0}));
}

TEST_F(HostTest, GpusComeFromTheLibraryThatIsGiven) {
  setenv("TENCH_NVML", TENCH_NVML_STANDIN, 1);
  const auto nvml = Nvml::Open();
  unsetenv("TENCH_NVML");
  ASSERT_TRUE(nvml);
  const Json json = HostToJson(ReadHost(nvml.get(), root_.path()));
  EXPECT_EQ(json["gpus"][0]["name"], "Stand-in A100");
  EXPECT_EQ(json["gpu_driver"], "535.161.08");
}

TEST(HostOnLinuxTest, ReadsThisMachine) {
  const HostFacts host = ReadHost();
  EXPECT_FALSE(host.machine.empty());
  EXPECT_GE(host.cpu.logical, 1);
  EXPECT_GE(host.cpu.cores, 1);
  EXPECT_GT(host.memory_bytes, 0);
  EXPECT_FALSE(host.allowed_cpus.empty());
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_GT(host.UsableCpus(), 0);
  EXPECT_EQ(host.machine_id, ReadHost().machine_id);
}

}  // namespace
}  // namespace tench::host_test
