// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts of a process: resident memory as the kernel counts it, loaded shared objects, CPU time and
// the flush-to-zero mode. Linux only. A fact that cannot be read is 0, empty or "unknown", never an
// error. Stateless.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tench {

int64_t ResidentBytes();
// The kernel's high-water mark since the process began or since the last reset.
int64_t PeakResidentBytes();
bool ResetPeakResident();              // false if the kernel does not allow it
int64_t PeakResidentBytes(pid_t pid);  // 0 if there is no such process
// CPU time of another process so far; 0 if there is no such process.
int64_t CpuNs(pid_t pid);

std::vector<std::string> LoadedLibraries();  // base/process_map.h

// "on", "off" or "unknown", for the calling thread.
std::string FlushToZero();

}  // namespace tench
