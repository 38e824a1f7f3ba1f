// SPDX-License-Identifier: Apache-2.0
#include "machine/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/text.h"

namespace tench {
namespace {

constexpr int kMostCpus = 1 << 16;

struct CpuSetFree {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

std::vector<int> AllowedCpus() {
  // sched_getaffinity refuses a mask smaller than the kernel's, and the kernel does not report its
  // size.
  for (int capacity = CPU_SETSIZE; capacity <= kMostCpus; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, CpuSetFree> set(CPU_ALLOC(static_cast<size_t>(capacity)));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {0};
}

Result<std::vector<int>> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& part : Split(text, ',')) {
    const std::string_view range = Trim(part);
    if (range.empty()) continue;
    const size_t dash = range.find('-');
    const auto first = ParseInteger(range.substr(0, dash));
    const auto last = dash == range.npos ? first : ParseInteger(range.substr(dash + 1));
    if (!first.ok() || !last.ok() || *first < 0 || *last < *first || *last >= kMostCpus) {
      return Failed("'{}' is not a list of CPUs such as 0-3,8", Printable(text));
    }
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string PrintCpuList(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end - i > 1) text += '-' + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace tench
