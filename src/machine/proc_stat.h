// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parser of one line of /proc/PID/stat. Pure: it reads no file, allocates nothing, and keeps the
// kernel's units (ticks and pages).

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace tench {

struct ProcStat {
  pid_t pid = 0;
  std::string_view name;  // a view of the parsed text; may contain spaces and parentheses
  char state = '?';       // 'Z' is a zombie
  pid_t parent = 0, group = 0, session = 0;
  int64_t minor_faults = 0, major_faults = 0;                // of all threads, including ended ones
  int64_t waited_minor_faults = 0, waited_major_faults = 0;  // of children that were waited for
  int64_t cpu_ticks = 0, waited_cpu_ticks = 0;               // user + system
  int64_t threads = 0;
  int64_t start_ticks = 0;  // since boot; distinguishes processes with a reused id
  int64_t rss_pages = 0;
};

// nullopt if the line is truncated or malformed.
std::optional<ProcStat> ParseProcStat(std::string_view line);

}  // namespace tench
