// SPDX-License-Identifier: Apache-2.0
#include "worker/cache_eviction.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tench {
namespace {

constexpr long kUsualBytes = 64 << 20, kMostBytes = 1L << 30;

// Twice the last-level cache, where the C library knows it.
size_t BufferBytes() {
  const long bytes = 2 * std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return static_cast<size_t>(std::clamp(bytes, kUsualBytes, kMostBytes));
}

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

void MoveTo(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

bool CacheEviction::Requested() {
  const char* text = std::getenv("TENCH_CACHE");
  return text != nullptr && std::string_view(text) == "cold";
}

CacheEviction::CacheEviction() : cpus_(AllowedCpus()), buffer_(BufferBytes()) {}

// Each CPU has private caches, so the calling thread visits all of them.
void CacheEviction::Run() {
  constexpr size_t kLine = 64;
  for (const int cpu : cpus_) {
    MoveTo({cpu});
    ++value_;
    for (size_t i = 0; i < buffer_.size(); i += kLine)
      static_cast<volatile char&>(buffer_[i]) = value_;
  }
  if (!cpus_.empty()) MoveTo(cpus_);
}

}  // namespace tench
