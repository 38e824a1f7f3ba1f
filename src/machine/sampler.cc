// SPDX-License-Identifier: Apache-2.0
// Two ways to find the members. If the kernel has CONFIG_PROC_CHILDREN, every thread has a file
// that lists its children, and the tree is traversed from the root. Otherwise /proc is listed, and
// each new process is classified once by the session, group and parent in its stat line. The class
// holds for the life of a process, because a child of a member is a member. Known members are kept
// with their start time: an orphan is a child of init and would no longer be found.
#include "machine/sampler.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <iterator>

namespace tench {
namespace {

constexpr int64_t kFewThreads = 8;
constexpr int64_t kThreadPauseNs = 1'000'000'000;

// The format of getdents64; the C library declares it only under another name.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

void AppendNumber(std::string& text, int64_t number) {
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end);
}

// "PID/" or "PID/task/TID/", then `file`.
std::string_view ProcPath(std::string& path, pid_t pid, pid_t thread, std::string_view file) {
  path.clear();
  AppendNumber(path, pid);
  if (thread != 0) {
    path += "/task/";
    AppendNumber(path, thread);
  }
  path += '/';
  path += file;
  return path;
}

// Calls visit(key, number) for each "Key:  123 …" line that starts with a number.
template <class Visit>
void ForEachNumber(std::string_view status, Visit visit) {
  while (!status.empty()) {
    const size_t end = std::min(status.find('\n'), status.size());
    const std::string_view line = status.substr(0, end);
    status.remove_prefix(std::min(end + 1, status.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    if (start == line.npos) continue;
    int64_t number = 0;
    if (std::from_chars(line.data() + start, line.data() + line.size(), number).ec == std::errc{}) {
      visit(line.substr(0, colon), number);
    }
  }
}

}  // namespace

ProcessSampler::ProcessSampler(const std::filesystem::path& proc)
    : proc_(open(proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      tick_ns_(1'000'000'000 / sysconf(_SC_CLK_TCK)) {
  buffer_.resize(16 << 10);
}

Sample ProcessSampler::Take(pid_t pid, int64_t now_ns) {
  if (pid != root_) {
    root_ = pid;
    members_.assign(1, Member{pid});
    foreign_.clear();
  }
  if (members_.empty()) members_.push_back(Member{pid});
  if (way_ == Way::kUnknown && ReadStat(pid)) {
    const bool found = Read(ProcPath(path_, pid, pid, "children")).has_value();
    if (found)
      way_ = Way::kChildren;
    else if (ReadStat(pid))
      way_ = Way::kScan;
  }
  if (way_ == Way::kScan) FindByScan();

  Sample sample;
  sample.time_ns = now_ns;
  size_t alive = 0;
  // By index and with a copy, because FollowChildren appends to members_ during the loop.
  for (size_t i = 0; i < members_.size(); ++i) {
    Member member = members_[i];
    if (AddMember(member, sample)) members_[alive++] = member;
  }
  members_.resize(alive);
  return sample;
}

std::vector<pid_t> ProcessSampler::Pids() const {
  std::vector<pid_t> pids;
  for (const Member& member : members_) pids.push_back(member.pid);
  return pids;
}

bool ProcessSampler::AddMember(Member& member, Sample& sample) {
  const std::optional<ProcStat> stat = ReadStat(member.pid);
  if (!stat || (member.start_ticks != 0 && member.start_ticks != stat->start_ticks)) return false;
  const ProcStat seen = *stat;
  Sample sum = sample;
  sum.processes += 1;
  sum.threads += seen.threads;
  sum.cpu_ns += (seen.cpu_ticks + seen.waited_cpu_ticks) * tick_ns_;
  sum.minor_faults += seen.minor_faults + seen.waited_minor_faults;
  sum.major_faults += seen.major_faults + seen.waited_major_faults;
  if (!AddStatus(member, seen.threads <= 1, sum)) return false;
  const bool crowded = seen.threads > kFewThreads;
  const bool rested =
      member.threads_read_ns == 0 || sample.time_ns - member.threads_read_ns >= kThreadPauseNs;
  if (seen.threads > 1 && (!crowded || rested))
    ReadThreads(member, sample.time_ns);
  else if (way_ == Way::kChildren)
    FollowChildren(member.pid, member.pid);
  sum.voluntary_switches += member.voluntary_switches;
  sum.involuntary_switches += member.involuntary_switches;
  sample = sum;
  member.start_ticks = seen.start_ticks;
  return true;
}

bool ProcessSampler::AddStatus(Member& member, bool with_switches, Sample& sample) {
  const auto status = Read(ProcPath(path_, member.pid, 0, "status"));
  if (!status) return false;
  ForEachNumber(*status, [&](std::string_view key, int64_t number) {
    if (key == "VmRSS") sample.rss_bytes += number << 10;
    if (key == "VmSwap") sample.swap_bytes += number << 10;
    if (key == "VmHWM" && member.pid == root_) sample.hwm_bytes = number << 10;
    if (with_switches && key == "voluntary_ctxt_switches") member.voluntary_switches = number;
    if (with_switches && key == "nonvoluntary_ctxt_switches") member.involuntary_switches = number;
  });
  return true;
}

// /proc/PID/status counts the context switches of the first thread only.
void ProcessSampler::ReadThreads(Member& member, int64_t now_ns) {
  member.threads_read_ns = now_ns;
  member.voluntary_switches = member.involuntary_switches = 0;
  ListNumbers(ProcPath(path_, member.pid, 0, "task"), threads_);
  for (const pid_t thread : threads_) {
    if (const auto status = Read(ProcPath(path_, member.pid, thread, "status"))) {
      ForEachNumber(*status, [&](std::string_view key, int64_t number) {
        if (key == "voluntary_ctxt_switches") member.voluntary_switches += number;
        if (key == "nonvoluntary_ctxt_switches") member.involuntary_switches += number;
      });
    }
    if (way_ == Way::kChildren) FollowChildren(member.pid, thread);
  }
}

void ProcessSampler::FollowChildren(pid_t pid, pid_t thread) {
  const auto children = Read(ProcPath(path_, pid, thread, "children"));
  if (!children) return;
  const char* at = children->data();
  const char* const end = at + children->size();
  while (at != end) {
    pid_t child = 0;
    const auto [rest, error] = std::from_chars(at, end, child);
    if (error == std::errc{} && !IsMember(child)) members_.push_back(Member{child});
    at = rest == at ? at + 1 : rest;
  }
}

void ProcessSampler::FindByScan() {
  ListNumbers(".", listed_);
  std::sort(listed_.begin(), listed_.end());
  std::erase_if(foreign_, [&](pid_t pid) {
    return !std::binary_search(listed_.begin(), listed_.end(), pid);
  });
  candidates_.clear();
  for (const pid_t pid : listed_) {
    if (std::binary_search(foreign_.begin(), foreign_.end(), pid) || IsMember(pid)) continue;
    if (const auto stat = ReadStat(pid)) candidates_.push_back(*stat);
  }
  // Process ids wrap around, so a child may have a smaller id than its parent. The loop runs to a
  // fixed point.
  for (size_t before = candidates_.size() + 1; candidates_.size() < before;) {
    before = candidates_.size();
    std::erase_if(candidates_, [&](const ProcStat& stat) {
      const bool belongs = stat.session == root_ || stat.group == root_ || IsMember(stat.parent);
      if (belongs) members_.push_back(Member{stat.pid, stat.start_ticks});
      return belongs;
    });
  }
  for (const ProcStat& stat : candidates_) foreign_.push_back(stat.pid);
  std::sort(foreign_.begin(), foreign_.end());
}

bool ProcessSampler::IsMember(pid_t pid) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.pid == pid; });
}

std::optional<ProcStat> ProcessSampler::ReadStat(pid_t pid) {
  const auto line = Read(ProcPath(path_, pid, 0, "stat"));
  if (!line) return {};
  auto stat = ParseProcStat(*line);
  if (stat) stat->name = {};  // a view of the buffer, which the next Read overwrites
  return stat;
}

std::optional<std::string_view> ProcessSampler::Read(std::string_view path) {
  const Fd file(openat(proc_.get(), path.data(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  size_t size = 0;
  for (;;) {
    if (size == buffer_.size()) buffer_.resize(2 * size);
    const ssize_t got = read(file.get(), buffer_.data() + size, buffer_.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};  // ESRCH: the process ended after the open
    if (got == 0) return std::string_view(buffer_.data(), size);
    size += static_cast<size_t>(got);
  }
}

void ProcessSampler::ListNumbers(std::string_view path, std::vector<pid_t>& numbers) {
  numbers.clear();
  const Fd folder(openat(proc_.get(), path.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return;
  for (;;) {
    const long got = syscall(SYS_getdents64, folder.get(), buffer_.data(), buffer_.size());
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer_.data() + at);
      at += entry->length;
      const std::string_view name(entry->name);
      pid_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (error == std::errc{} && end == name.data() + name.size()) numbers.push_back(number);
    }
  }
}

}  // namespace tench
