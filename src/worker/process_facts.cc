// SPDX-License-Identifier: Apache-2.0
#include "worker/process_facts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <sstream>

#include "base/clock.h"
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

// clock_getcpuclockid has no form for a thread id; this is the kernel's encoding of the clock.
int64_t ThreadNs(pid_t thread) {
  constexpr clockid_t kPerThread = 4, kScheduler = 2;
  timespec used;
  if (clock_gettime((~static_cast<clockid_t>(thread) << 3) | kPerThread | kScheduler, &used) != 0)
    return 0;
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// Ignored by default, so that a late signal does no harm.
constexpr int kAskSignal = SIGURG;
constexpr int64_t kAnswerNs = 100'000'000;

// Written by the signal's handler, which has no other way to answer.
std::atomic<int> threads_on{0}, threads_off{0};

#if defined(__x86_64__)
constexpr unsigned kMxcsrFlushToZero = 1u << 15;
#elif defined(__aarch64__)
constexpr unsigned long kFpcrFlushToZero = 1ul << 24;
#endif

// The kernel resets MXCSR for the handler, so the interrupted thread's is read from its context.
// On aarch64, FPCR is kept.
void AnswerMode(int, siginfo_t*, [[maybe_unused]] void* context) {
#if defined(__x86_64__)
  const auto* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.fpregs;
  if (registers != nullptr)
    ((registers->mxcsr & kMxcsrFlushToZero) != 0 ? threads_on : threads_off).fetch_add(1);
#elif defined(__aarch64__)
  unsigned long control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  ((control & kFpcrFlushToZero) != 0 ? threads_on : threads_off).fetch_add(1);
#endif
}

std::vector<pid_t> ComputingThreads(const ThreadTimes& before) {
  ThreadTimes grown = ReadThreadTimes();
  int64_t largest = 0;
  for (auto& [thread, ns] : grown) {
    if (const auto known = before.find(thread); known != before.end()) ns -= known->second;
    largest = std::max(largest, ns);
  }
  std::vector<pid_t> computing;
  for (const auto& [thread, ns] : grown) {
    if (ns > 0 && ns >= largest / 10) computing.push_back(thread);
  }
  return computing;
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

// Called between two steps, so only the few lines of executable memory are taken apart.
int64_t GeneratedCodeIn(std::string_view maps) {
  int64_t bytes = 0;
  for (size_t begin = 0; begin < maps.size();) {
    const size_t end = std::min(maps.find('\n', begin), maps.size());
    const std::string_view line = maps.substr(begin, end - begin);
    begin = end + 1;
    const size_t permissions = line.find(' ');
    if (permissions == std::string_view::npos || line.substr(permissions).size() < 4 ||
        line[permissions + 3] != 'x')
      continue;
    std::istringstream fields{std::string(line)};
    uint64_t from = 0, to = 0;
    char dash = 0;
    std::string skipped, path;
    fields >> std::hex >> from >> dash >> to;
    for (int field = 0; field < 4; ++field) fields >> skipped;  // up to the inode
    fields >> path;
    if (path.empty() || path.starts_with("[anon") || path.starts_with("/memfd:"))
      bytes += static_cast<int64_t>(to - from);
  }
  return bytes;
}

int64_t GeneratedCodeBytes() {
  const auto maps = ReadFile("/proc/self/maps");
  return maps.ok() ? GeneratedCodeIn(*maps) : 0;
}

std::string FlushToZero() {
#if defined(__x86_64__)
  return (__builtin_ia32_stmxcsr() & kMxcsrFlushToZero) != 0 ? "on" : "off";
#elif defined(__aarch64__)
  unsigned long control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return (control & kFpcrFlushToZero) != 0 ? "on" : "off";
#else
  return "unknown";
#endif
}

ThreadTimes ReadThreadTimes() {
  ThreadTimes times;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const Result<int64_t> thread = ParseInteger(entry.path().filename().string());
    if (thread.ok()) times[static_cast<pid_t>(*thread)] = ThreadNs(static_cast<pid_t>(*thread));
  }
  return times;
}

std::string FlushToZeroSince(const ThreadTimes& before) {
  struct sigaction ask = {}, previous = {};
  ask.sa_sigaction = AnswerMode;
  ask.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&ask.sa_mask);
  threads_on = threads_off = 0;
  if (sigaction(kAskSignal, &ask, &previous) != 0) return "";
  int asked = 0;
  for (const pid_t thread : ComputingThreads(before))
    asked += syscall(SYS_tgkill, getpid(), thread, kAskSignal) == 0 ? 1 : 0;
  // A thread that blocks the signal never answers.
  const int64_t until_ns = NowNs() + kAnswerNs;
  while (threads_on + threads_off < asked && NowNs() < until_ns) usleep(50);
  sigaction(kAskSignal, &previous, nullptr);
  if (threads_on + threads_off == 0) return "";
  return threads_on > 0 && threads_off > 0 ? "mixed" : threads_on > 0 ? "on" : "off";
}

void SetFlushToZero() {
#if defined(__x86_64__)
  constexpr unsigned kFlushToZero = 1u << 15, kDenormalsAreZero = 1u << 6;
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | kFlushToZero | kDenormalsAreZero);
#elif defined(__aarch64__)
  constexpr unsigned long kFlushToZero = 1ul << 24;
  unsigned long control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | kFlushToZero));
#endif
}

}  // namespace tench
