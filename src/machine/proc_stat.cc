// SPDX-License-Identifier: Apache-2.0
#include "machine/proc_stat.h"

#include <array>
#include <charconv>

namespace tench {
namespace {

// Field numbers of proc(5), which counts from 1. The fields before kParent are not numbers.
enum Field : size_t {
  kParent = 4,
  kGroup = 5,
  kSession = 6,
  kMinorFaults = 10,
  kWaitedMinorFaults = 11,
  kMajorFaults = 12,
  kWaitedMajorFaults = 13,
  kUserTicks = 14,
  kSystemTicks = 15,
  kWaitedUserTicks = 16,
  kWaitedSystemTicks = 17,
  kThreads = 20,
  kStartTicks = 22,
  kRssPages = 24,
  kFieldsRead = 25,
};

// Unsigned fields may exceed int64_t (a limit of "unlimited"). None of them is used, so they may
// saturate.
const char* ReadField(const char* at, const char* end, int64_t& value) {
  while (at != end && *at == ' ') ++at;
  auto [rest, error] = std::from_chars(at, end, value);
  if (error == std::errc::invalid_argument) return nullptr;
  return rest;
}

}  // namespace

std::optional<ProcStat> ParseProcStat(std::string_view line) {
  // The name may itself contain parentheses, so only the last one is its end.
  const size_t open = line.find('('), close = line.rfind(')');
  if (open == line.npos || close == line.npos || close < open || close + 3 >= line.size())
    return {};
  ProcStat stat;
  if (std::from_chars(line.data(), line.data() + open, stat.pid).ec != std::errc{}) return {};
  stat.name = line.substr(open + 1, close - open - 1);
  stat.state = line[close + 2];

  std::array<int64_t, kFieldsRead> fields{};
  const char* at = line.data() + close + 3;
  for (size_t i = kParent; i < kFieldsRead; ++i) {
    at = ReadField(at, line.data() + line.size(), fields[i]);
    if (at == nullptr) return {};
  }
  stat.parent = static_cast<pid_t>(fields[kParent]);
  stat.group = static_cast<pid_t>(fields[kGroup]);
  stat.session = static_cast<pid_t>(fields[kSession]);
  stat.minor_faults = fields[kMinorFaults];
  stat.major_faults = fields[kMajorFaults];
  stat.waited_minor_faults = fields[kWaitedMinorFaults];
  stat.waited_major_faults = fields[kWaitedMajorFaults];
  stat.cpu_ticks = fields[kUserTicks] + fields[kSystemTicks];
  stat.waited_cpu_ticks = fields[kWaitedUserTicks] + fields[kWaitedSystemTicks];
  stat.threads = fields[kThreads];
  stat.start_ticks = fields[kStartTicks];
  stat.rss_pages = fields[kRssPages];
  return stat;
}

}  // namespace tench
