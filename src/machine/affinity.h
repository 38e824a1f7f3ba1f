// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPU affinity: the CPUs on which this process may run, and CPU lists in the kernel's notation. Not
// aware of threads or workers.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

// The CPUs that the calling thread may use, ascending; never empty. Respects affinity and cpusets,
// not CPU quotas.
std::vector<int> AllowedCpus();

// "0-3,8": ascending, without repeats.
Result<std::vector<int>> ParseCpuList(std::string_view text);
std::string PrintCpuList(const std::vector<int>& cpus);

}  // namespace tench
