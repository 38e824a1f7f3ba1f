// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts of a process: resident memory as the kernel counts it, loaded shared objects, CPU time and
// the flush-to-zero mode. Linux only. A fact that cannot be read is 0, empty or "unknown", never an
// error. Stateless.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tench {

int64_t ResidentBytes();
// The kernel's high-water mark since the process began or since the last reset.
int64_t PeakResidentBytes();
bool ResetPeakResident();              // false where the kernel does not allow it
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
