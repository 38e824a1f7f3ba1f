// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a worker can say about its own process: memory as the kernel counts it, the shared objects
// that are really loaded, and whether the processor rounds tiny numbers to zero. Linux only; what
// cannot be read is 0, empty or "unknown", never a failure.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tench {

int64_t ResidentBytes();
int64_t PeakResidentBytes();  // the kernel's high-water mark since the process began or since the
                              // last reset
bool ResetPeakResident();     // false where the kernel does not allow it
int64_t PeakResidentBytes(pid_t pid);  // of another process; 0 if there is none
// CPU time of another process so far; 0 if there is none.
int64_t CpuNs(pid_t pid);

// The shared objects of a /proc/PID/maps text, each once, in order; without the C and C++ runtime,
// which every process has.
std::vector<std::string> LibrariesIn(std::string_view maps);
std::vector<std::string> LoadedLibraries();

// "on", "off" or "unknown", for the calling thread.
std::string FlushToZero();

}  // namespace tench
