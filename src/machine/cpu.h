// SPDX-License-Identifier: Apache-2.0
#pragma once
// The processors as the kernel describes them: identity, topology, the instruction sets that deep
// learning uses, caches, and frequency settings. A passive struct; an unknown value is empty or 0.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tench {

struct CpuCache {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  int64_t bytes = 0;
  int shared_by = 0;  // logical CPUs
};

struct CpuFacts {
  std::string model, vendor;  // "AMD EPYC 7763 64-Core Processor", "AuthenticAMD"
  std::string architecture;   // "x86_64"
  int family = 0, model_number = 0, stepping = 0;
  std::string microcode;
  int logical = 0, cores = 0, sockets = 0, numa_nodes = 0;  // online
  std::vector<std::string> flags;  // avx2, fma, avx512*, amx*, …: the relevant ones, sorted
  bool hypervisor = false;
  std::vector<CpuCache> caches;  // of the first CPU
  int64_t max_khz = 0;
  std::string governor;  // "performance"; "mixed" if CPUs differ; "" without frequency scaling
  std::string turbo;     // "on", "off" or ""
  std::string smt;       // "on", "off" or ""
};

CpuFacts ReadCpu(const std::filesystem::path& root = "/");

// The widest instruction set for which frameworks have kernels of their own: "avx512+amx",
// "avx512", "avx2", "avx", "sse4_2", "sve2", "sve", "asimd"; otherwise the architecture.
std::string IsaOf(const CpuFacts& cpu);

}  // namespace tench
