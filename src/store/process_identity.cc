// SPDX-License-Identifier: Apache-2.0
#include "store/process_identity.h"

#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tench {
namespace {

// Field numbers after the command's closing parenthesis.
constexpr size_t kStateField = 0, kStartField = 19;

std::string Line(const std::string& path) {
  const Result<std::string> content = ReadFile(path);
  return content.ok() ? std::string(Trim(*content)) : std::string();
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

int64_t StartTicksOf(int64_t pid) {
  const Result<std::string> stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  return stat.ok() ? StartTicks(*stat) : 0;
}

}  // namespace

int64_t StartTicks(std::string_view stat) {
  // The command may itself contain spaces and parentheses; the last parenthesis ends it.
  const size_t end = stat.rfind(')');
  if (end == std::string_view::npos) return 0;
  const std::vector<std::string> fields = Split(Trim(stat.substr(end + 1)), ' ');
  if (fields.size() <= kStartField) return 0;
  if (fields[kStateField] == "Z" || fields[kStateField] == "X") return 0;
  const Result<int64_t> ticks = ParseInteger(fields[kStartField]);
  return ticks.ok() ? *ticks : 0;
}

ProcessIdentity ThisProcess() {
  ProcessIdentity identity;
  identity.pid = getpid();
  identity.start_ticks = StartTicksOf(identity.pid);
  identity.boot_id = Line("/proc/sys/kernel/random/boot_id");
  identity.host = HostName();
  identity.machine_id = Line("/etc/machine-id");
  if (identity.machine_id.empty()) identity.machine_id = identity.host;
  return identity;
}

ProcessLife LifeOf(const ProcessIdentity& process) {
  const ProcessIdentity self = ThisProcess();
  if (process.boot_id == self.boot_id) {
    const int64_t ticks = StartTicksOf(process.pid);
    return ticks != 0 && ticks == process.start_ticks ? ProcessLife::kAlive : ProcessLife::kDead;
  }
  return process.machine_id == self.machine_id ? ProcessLife::kDead : ProcessLife::kUnknown;
}

}  // namespace tench
