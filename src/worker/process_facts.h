// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts of a process: resident memory as the kernel counts it, loaded shared objects, CPU time and
// the flush-to-zero mode. Linux only. A fact that cannot be read is 0, empty or "unknown", never an
// error. Stateless, except that FlushToZeroSince must not run in two threads at once.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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

// Memory of this process that holds code and is mapped from no file on disk: what JIT compilers
// (XLA, oneDNN's kernels) have generated. It grows when one of them compiles.
int64_t GeneratedCodeBytes();
int64_t GeneratedCodeIn(std::string_view maps);  // the text of /proc/PID/maps

// "on", "off" or "unknown", for the calling thread.
std::string FlushToZero();
// For the calling thread and the threads that it creates later.
void SetFlushToZero();

// CPU time of every thread of this process, by thread id.
using ThreadTimes = std::map<pid_t, int64_t>;
ThreadTimes ReadThreadTimes();

// The flush-to-zero mode of the threads that have computed since `before`: "on", "off" or "mixed";
// "" if it cannot be read. A thread has computed if its CPU time grew by at least a tenth of
// the largest growth. Interrupts each of these threads with a signal, for some microseconds; call
// it between steps, off the clock.
std::string FlushToZeroSince(const ThreadTimes& before);

}  // namespace tench
