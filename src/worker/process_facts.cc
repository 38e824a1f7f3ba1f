// SPDX-License-Identifier: Apache-2.0
#include "worker/process_facts.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process_map.h"
#include "base/text.h"

namespace tench {
namespace {

// A field of /proc/PID/status in kB.
int64_t StatusBytes(std::string_view field, const std::string& process = "self") {
  const auto text = ReadFile("/proc/" + process + "/status");
  if (!text.ok()) return 0;
  for (const std::string& line : Split(*text, '\n')) {
    if (!line.starts_with(field)) continue;
    std::string_view value = Trim(std::string_view(line).substr(field.size()));
    if (value.ends_with(" kB")) value.remove_suffix(3);
    const auto kilobytes = ParseInteger(Trim(value));
    return kilobytes.ok() ? *kilobytes * 1024 : 0;
  }
  return 0;
}

}  // namespace

int64_t ResidentBytes() { return StatusBytes("VmRSS:"); }
int64_t PeakResidentBytes() { return StatusBytes("VmHWM:"); }
int64_t PeakResidentBytes(pid_t pid) {
  return pid > 0 ? StatusBytes("VmHWM:", std::to_string(pid)) : 0;
}

int64_t CpuNs(pid_t pid) {
  clockid_t clock;
  timespec used;
  if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
    return 0;
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

bool ResetPeakResident() {
  const Fd file(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  return file.valid() && write(file.get(), "5", 1) == 1;
}

std::vector<std::string> LoadedLibraries() {
  const auto maps = ReadFile("/proc/self/maps");
  return maps.ok() ? LibrariesIn(*maps) : std::vector<std::string>();
}

std::string FlushToZero() {
#if defined(__x86_64__)
  constexpr unsigned kFlushToZero = 1u << 15;
  return (__builtin_ia32_stmxcsr() & kFlushToZero) != 0 ? "on" : "off";
#elif defined(__aarch64__)
  constexpr unsigned long kFlushToZero = 1ul << 24;
  unsigned long control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return (control & kFlushToZero) != 0 ? "on" : "off";
#else
  return "unknown";
#endif
}

}  // namespace tench
