// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/text.h"

namespace tench {
namespace {

constexpr int kFirstFreeFd = 10;  // above every descriptor that a child gets
constexpr int kPipeBytes = 1 << 20;
// A process in an uninterruptible wait may never end.
constexpr int64_t kStrayDeadlineNs = 5'000'000'000;

// An error between fork and exec, reported through a pipe that exec closes.
struct LaunchFailure {
  char what[24];
  int error;
};

// All data of the child, prepared before fork: after it only async-signal-safe calls are allowed.
struct Launch {
  std::vector<std::string> texts;
  std::vector<char*> argv, envp;
  std::string executable, folder, oom_score_adj;
  cpu_set_t cpus;
  bool pinned = false;
  int input_fd = -1, output_fd = -1, error_fd = -1, extra_fd = -1, report_fd = -1;
  pid_t parent = 0;
};

Launch Prepare(const SpawnOptions& options) {
  Launch launch;
  launch.executable = options.executable.string();
  launch.folder = options.folder.string();
  if (options.oom_score_adj) launch.oom_score_adj = fmt::format("{}", *options.oom_score_adj);
  launch.texts.push_back(launch.executable);
  for (const auto& argument : options.arguments) launch.texts.push_back(argument);
  for (const auto& [name, value] : options.environment) launch.texts.push_back(name + "=" + value);
  for (size_t i = 0; i < launch.texts.size(); ++i) {
    (i <= options.arguments.size() ? launch.argv : launch.envp).push_back(launch.texts[i].data());
  }
  launch.argv.push_back(nullptr);
  launch.envp.push_back(nullptr);
  CPU_ZERO(&launch.cpus);
  for (const int cpu : options.cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &launch.cpus);
  }
  launch.pinned = !options.cpus.empty();
  launch.input_fd = options.input_fd;
  launch.output_fd = options.output_fd;
  launch.error_fd = options.error_fd;
  launch.extra_fd = options.extra_fd;
  launch.parent = getpid();
  return launch;
}

[[noreturn]] void Report(int report_fd, const char* what) {
  LaunchFailure failure{};
  failure.error = errno;
  strncpy(failure.what, what, sizeof failure.what - 1);
  [[maybe_unused]] const ssize_t written = write(report_fd, &failure, sizeof failure);
  _exit(127);
}

// Source descriptors may equal target numbers, so they are duplicated above the targets first.
void PlaceDescriptors(const Launch& launch, int report_fd) {
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_fd < 0) Report(report_fd, "open /dev/null");
  const int input =
      fcntl(launch.input_fd >= 0 ? launch.input_fd : null_fd, F_DUPFD_CLOEXEC, kFirstFreeFd);
  const int output =
      fcntl(launch.output_fd >= 0 ? launch.output_fd : null_fd, F_DUPFD_CLOEXEC, kFirstFreeFd);
  const int error =
      launch.error_fd >= 0 ? fcntl(launch.error_fd, F_DUPFD_CLOEXEC, kFirstFreeFd) : output;
  const int extra =
      launch.extra_fd >= 0 ? fcntl(launch.extra_fd, F_DUPFD_CLOEXEC, kFirstFreeFd) : -1;
  if (input < 0 || output < 0 || error < 0 || (launch.extra_fd >= 0 && extra < 0))
    Report(report_fd, "duplicate descriptors");
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0)
    Report(report_fd, "place descriptors");
  if (extra >= 0 && dup2(extra, 3) < 0) Report(report_fd, "place descriptor 3");
  // tench's descriptors are close-on-exec already; this covers those that a library opened. Kernels
  // before 5.11 lack the call.
  close_range(extra >= 0 ? 4 : 3, ~0U, CLOSE_RANGE_CLOEXEC);
}

void ResetSignals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunChild(const Launch& launch) {
  const int report_fd = fcntl(launch.report_fd, F_DUPFD_CLOEXEC, kFirstFreeFd);
  if (report_fd < 0) _exit(127);
  // The parent may have died before prctl took effect; then nobody waits for this child.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(127);
  if (setsid() < 0) Report(report_fd, "setsid");
  PlaceDescriptors(launch, report_fd);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!launch.oom_score_adj.empty()) {
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
      [[maybe_unused]] const ssize_t written =
          write(fd, launch.oom_score_adj.data(), launch.oom_score_adj.size());
      close(fd);
    }
  }
  if (launch.pinned && sched_setaffinity(0, sizeof launch.cpus, &launch.cpus) != 0)
    Report(report_fd, "set CPU affinity");
  if (!launch.folder.empty() && chdir(launch.folder.c_str()) != 0)
    Report(report_fd, "enter its folder");
  ResetSignals();
  execve(launch.executable.c_str(), launch.argv.data(), launch.envp.data());
  Report(report_fd, "execute");
}

// The guard process keeps only the pipe open, and waits until its other end is closed.
[[noreturn]] void WatchOver(pid_t group, int life_fd) {
  setsid();
  dup2(life_fd, 0);
  close_range(1, ~0U, 0);
  ResetSignals();
  char never;
  while (read(0, &never, 1) < 0 && errno == EINTR) {
  }
  kill(-group, SIGKILL);
  _exit(0);
}

// The header of the C library's own wrapper cannot be used from C++ in glibc 2.36.
Fd OpenPidfd(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

// Signal handlers of this process must not run in the child before they are reset.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// The direct children of all threads of this process.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    const auto text = ReadFile(task.path() / "children");
    if (!text) continue;
    for (const auto& word : Split(*text, ' ')) {
      if (const auto pid = ParseInteger(word)) children.push_back(static_cast<pid_t>(*pid));
    }
  }
  return children;
}

bool HasNoChild() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

int64_t Ns(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1000;
}

ExitStatus Decode(const siginfo_t& info, const rusage& usage) {
  ExitStatus result;
  (info.si_code == CLD_EXITED ? result.code : result.signal) = info.si_status;
  result.cpu_ns = Ns(usage.ru_utime) + Ns(usage.ru_stime);
  result.peak_rss_bytes = int64_t{usage.ru_maxrss} * 1024;
  result.major_faults = usage.ru_majflt;
  result.voluntary_switches = usage.ru_nvcsw;
  result.involuntary_switches = usage.ru_nivcsw;
  return result;
}

int PollTimeoutMs(int64_t deadline_ns) {
  const int64_t left = deadline_ns - NowNs();
  return left <= 0 ? 0 : static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 60'000));
}

}  // namespace

Result<Pipe> Pipe::Make() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return Failed("cannot create a pipe: {}", strerror(errno));
  fcntl(fds[0], F_SETFL, O_NONBLOCK);
  // A larger pipe blocks a verbose child less often; the default remains if this is not permitted.
  fcntl(fds[0], F_SETPIPE_SZ, kPipeBytes);
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string ExitStatus::ToString() const {
  return signal != 0 ? fmt::format("signal {}", SignalName(signal))
                     : fmt::format("exit code {}", code);
}

Result<Subprocess> Subprocess::Spawn(const SpawnOptions& options) {
  Launch launch = Prepare(options);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return Failed("cannot create a pipe: {}", strerror(errno));
  Fd report_in(report[0]), report_out(report[1]);
  launch.report_fd = report_out.get();

  int was_subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper);
  std::set<pid_t> bystanders;
  if (!HasNoChild()) {
    const auto children = Children();
    bystanders.insert(children.begin(), children.end());
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t pid = -1;
  int error = 0;
  {
    const SignalsBlocked blocked;
    pid = fork();
    if (pid == 0) RunChild(launch);
    error = errno;
  }
  if (pid < 0) {
    if (was_subreaper == 0) prctl(PR_SET_CHILD_SUBREAPER, 0);
    return Failed("cannot start {}: {}", launch.executable, strerror(error));
  }
  Fd pidfd = OpenPidfd(pid);
  error = errno;
  Subprocess child(pid, std::move(pidfd), std::move(bystanders), was_subreaper != 0);
  if (!child.pidfd_.valid())
    return Failed("cannot watch {}: {}", launch.executable, strerror(error));

  report_out.Close();
  LaunchFailure failure{};
  ssize_t got;
  do got = read(report_in.get(), &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  if (got == sizeof failure) {
    return Failed("cannot start {}: {}: {}", launch.executable, failure.what,
                  strerror(failure.error));
  }
  child.StartGuard();
  return child;
}

// The guard is a direct child, so End() ends it before the group id can be reused. If it cannot be
// started (no process or descriptor left), only the kernel's parent-death signal remains.
void Subprocess::StartGuard() {
  int life[2];
  if (pipe2(life, O_CLOEXEC) != 0) return;
  Fd ours(life[1]);
  const Fd theirs(life[0]);
  const SignalsBlocked blocked;
  const pid_t guard = fork();
  if (guard == 0) WatchOver(pid_, life[0]);
  if (guard <= 0) return;
  guard_ = std::move(ours);
  guard_pid_ = guard;
}

Subprocess::Subprocess(pid_t pid, Fd pidfd, std::set<pid_t> bystanders, bool was_subreaper)
    : pid_(pid),
      pidfd_(std::move(pidfd)),
      bystanders_(std::move(bystanders)),
      was_subreaper_(was_subreaper) {}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      guard_(std::move(other.guard_)),
      guard_pid_(other.guard_pid_),
      status_(std::move(other.status_)),
      bystanders_(std::move(other.bystanders_)),
      spares_(other.spares_),
      was_subreaper_(other.was_subreaper_),
      ended_(other.ended_) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this == &other) return *this;
  if (pid_ > 0) End(0);
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  guard_ = std::move(other.guard_);
  guard_pid_ = other.guard_pid_;
  status_ = std::move(other.status_);
  bystanders_ = std::move(other.bystanders_);
  spares_ = other.spares_;
  was_subreaper_ = other.was_subreaper_;
  ended_ = other.ended_;
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ > 0) End(0);
}

std::optional<ExitStatus> Subprocess::Wait(int64_t deadline_ns) {
  while (!status_) {
    siginfo_t info{};
    rusage usage{};
    // The raw system call, because glibc's wrapper omits the resource usage. The child stays a
    // zombie until End, so that its pid still names its group.
    const long failed =
        syscall(SYS_waitid, P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT, &usage);
    if (failed == 0 && info.si_pid == pid_) {
      status_ = Decode(info, usage);
      break;
    }
    Check(failed == 0 || errno == EINTR, "other code has waited for the child");
    const int timeout_ms = PollTimeoutMs(deadline_ns);
    if (timeout_ms == 0) return std::nullopt;
    pollfd poll_fd{pidfd_.get(), POLLIN, 0};
    poll(&poll_fd, 1, timeout_ms);
  }
  return status_;
}

void Subprocess::Spare(const Subprocess& other) {
  bystanders_.insert(other.pid_);
  if (other.guard_pid_ > 0) bystanders_.insert(other.guard_pid_);
  spares_ = true;
}

void Subprocess::Signal(int signal) {
  if (pid_ > 0 && !ended_) kill(-pid_, signal);
}

ExitStatus Subprocess::End(int64_t grace_ns) {
  if (!ended_) {
    if (!status_ && grace_ns > 0) {
      Signal(SIGTERM);
      Wait(NowNs() + grace_ns);
    }
    Signal(SIGKILL);
    Wait(NowNs() + kStrayDeadlineNs);
    waitpid(pid_, nullptr, WNOHANG);
    EndDescendants();
    // A spared one still needs the setting.
    if (!was_subreaper_ && !spares_) prctl(PR_SET_CHILD_SUBREAPER, 0);
    ended_ = true;
  }
  return status_.value_or(ExitStatus{.signal = SIGKILL});
}

// Killing a process re-parents its children to this one, so this repeats until none is left.
void Subprocess::EndDescendants() {
  const int64_t deadline_ns = NowNs() + kStrayDeadlineNs;
  while (!HasNoChild() && NowNs() < deadline_ns) {
    bool found = false;
    for (const pid_t child : Children()) {
      if (bystanders_.contains(child) || bystanders_.contains(getsid(child))) continue;
      found = true;
      kill(child, SIGKILL);
      const Fd watch = OpenPidfd(child);
      pollfd poll_fd{watch.get(), POLLIN, 0};
      if (watch.valid()) poll(&poll_fd, 1, PollTimeoutMs(deadline_ns));
      waitpid(child, nullptr, WNOHANG);
    }
    if (!found) return;
  }
}

}  // namespace tench
