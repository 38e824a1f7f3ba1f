// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "protocol/missing_fact.h"
#include "run/session/worker_catalog.h"

namespace tench {
namespace {

constexpr int64_t kTickNs = 100'000'000;
constexpr int64_t kGraceNs = 500'000'000;  // from SIGTERM to SIGKILL: time to send the last steps
constexpr int kLinesAtOnce = 256;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t DeadlineAfter(int64_t since_ns, int64_t limit_ns) {
  return limit_ns == 0 ? kNever : since_ns + limit_ns;
}

}  // namespace

SessionOptions SessionOptions::Limited(const Limits& limits, const std::string& version,
                                       Instruments& instruments) {
  SessionOptions options;
  options.timeout_ns = limits.timeout_ns;
  options.version = version;
  options.instruments = &instruments;
  options.memory_limit_bytes =
      limits.memory_bytes > 0 ? limits.memory_bytes : MemoryLimitBytes(instruments.memory_bytes);
  options.swap = limits.swap;
  return options;
}

WorkerSession::WorkerSession(WorkerProcess process, SessionOptions options, MemoryWatch memory,
                             std::vector<int> cpus)
    : process_(std::move(process)),
      channel_(process_.TakeAnswers()),
      options_(std::move(options)),
      memory_(memory),
      cpus_(std::move(cpus)) {
  seen_.gpu = options_.gpu;
  if (options_.turns) protocol_.ExpectTurns();
}

Result<WorkerSession> WorkerSession::Start(WorkerLaunch launch, SessionOptions options) {
  const MemoryWatch memory(options.memory_limit_bytes, options.swap,
                           options.instruments ? OomKills() : 0);
  std::vector<int> cpus = launch.spawn.cpus;
  WorkerProcess process = TENCH_TRY(WorkerProcess::Start(std::move(launch)));
  return WorkerSession(std::move(process), std::move(options), memory, std::move(cpus));
}

void WorkerSession::Watch(const std::function<void(const RunProgress&)>& progress, StopToken stop) {
  progress_ = progress;
  stop_ = stop;
  Begin();
  process_.Watch(*this);
  seen_.exit = process_.exit();
}

void WorkerSession::Begin() {
  if (begun_) return;
  begun_ = true;
  if (options_.instruments && !options_.turns) options_.instruments->energy.Start();
  next_tick_ns_ = NowNs();
}

bool WorkerSession::WatchTurn(const std::function<void(const RunProgress&)>& progress,
                              StopToken stop) {
  progress_ = progress;
  stop_ = stop;
  Begin();
  // A worker that is being ended is watched until it is gone.
  if (process_.Watch(*this, [this] { return protocol_.waiting() && !ending_; })) {
    seen_.exit = process_.exit();
    return false;
  }
  NoteSlice();
  process_.Pause();
  paused_since_ns_ = NowNs();
  return true;
}

void WorkerSession::Resume() {
  paused_ns_ += NowNs() - paused_since_ns_;
  paused_since_ns_ = 0;
  process_.Resume();
}

void WorkerSession::Go(const Turn& turn) {
  Resume();
  // Lines from before the turn are a violation, and must not count for it.
  ReadAnswers();
  if (options_.instruments && !cpus_.empty()) withheld_at_go_ = ReadWithheldTime(cpus_);
  if (ending_) return;
  protocol_.Go(turn);
  process_.Write(TurnLine(turn) + "\n");
}

void WorkerSession::EndTurns() {
  Resume();
  ReadAnswers();
  protocol_.EndTurns();
  process_.EndInput();
}

void WorkerSession::Abandon() {
  Resume();
  End(Outcome::kInterrupted, "stopped between two slices", options_.stop_grace_ns);
}

void WorkerSession::NoteSlice() {
  if (slices_withheld_.size() == protocol_.slices().size()) return;
  WithheldShares shares;
  if (withheld_at_go_.time_ns != 0) {
    const WithheldTime now = ReadWithheldTime(cpus_);
    shares = SharesBetween(withheld_at_go_, now, cpus_.size());
    const auto slice_ns = static_cast<double>(now.time_ns - withheld_at_go_.time_ns);
    slices_ns_ += slice_ns;
    steal_ns_ += shares.steal.value_or(0) * slice_ns;
    throttled_ns_ += shares.throttled.value_or(0) * slice_ns;
    if (shares.steal && slices_ns_ > 0) seen_.withheld.steal = steal_ns_ / slices_ns_;
    if (shares.throttled && slices_ns_ > 0) seen_.withheld.throttled = throttled_ns_ / slices_ns_;
  }
  slices_withheld_.push_back(shares);
}

int64_t WorkerSession::OnWake(int64_t now_ns) {
  CheckTimes(now_ns);
  if (now_ns >= next_tick_ns_) {
    TakeSample(now_ns);
    next_tick_ns_ = now_ns + kTickNs;
    if (progress_) progress_(Progress(now_ns));
    if (options_.on_tick && !event_error_) Deliver(options_.on_tick());
  }
  return std::min(next_tick_ns_, NextDeadline());
}

void WorkerSession::OnExit() {
  if (!options_.instruments || options_.turns) return;
  EnergyMeter& meter = options_.instruments->energy;
  meter.Poll();
  seen_.cpu_energy_j = meter.Joules();
  // A run without a result has no window.
  if (!protocol_.done())
    seen_.energy = EnergyWindow().End(meter, NowNs(), options_.instruments->idle_w);
}

int64_t WorkerSession::NextDeadline() const {
  if (process_.killed()) return kNever;
  if (quiet_since_ns_ != 0) return quiet_since_ns_ + options_.exit_ns;
  if (ending_) return kNever;
  const int64_t launched_ns = process_.launched_ns() + paused_ns_;
  const int64_t result_ns = DeadlineAfter(launched_ns, options_.timeout_ns);
  return protocol_.hello() ? result_ns
                           : std::min(result_ns, DeadlineAfter(launched_ns, options_.hello_ns));
}

void WorkerSession::CheckTimes(int64_t now_ns) {
  const bool outstayed = quiet_since_ns_ != 0 && now_ns >= quiet_since_ns_ + options_.exit_ns;
  if (ending_) {
    if (outstayed) process_.Kill();
    return;
  }
  if (protocol_.over()) {
    if (!outstayed) return;
    lingered_ = true;
    return process_.Kill();
  }
  const std::string_view stage = Name(protocol_.stage());
  const int64_t launched_ns = process_.launched_ns() + paused_ns_;
  if (stop_.stop_requested()) {
    End(Outcome::kInterrupted, fmt::format("stopped while {}", stage), options_.stop_grace_ns);
  } else if (now_ns >= DeadlineAfter(launched_ns, options_.timeout_ns)) {
    End(Outcome::kTimeout,
        fmt::format("no result within {}; the worker was {}, after {} timed steps",
                    HumanNs(static_cast<double>(options_.timeout_ns)), stage,
                    protocol_.series().step_ns.size()),
        kGraceNs);
  } else if (!protocol_.hello() && now_ns >= DeadlineAfter(launched_ns, options_.hello_ns)) {
    End(Outcome::kTimeout,
        fmt::format("no hello within {}", HumanNs(static_cast<double>(options_.hello_ns))),
        kGraceNs);
  } else if (outstayed) {
    End(Outcome::kProtocolError, "the worker closed its channel without a result", 0);
  }
}

bool WorkerSession::ReadAnswers() {
  for (int i = 0; i < kLinesAtOnce; ++i) {
    if (channel_.ended() && quiet_since_ns_ != 0) return false;
    const ChannelRead read = channel_.Next(0);
    switch (read.kind) {
      case ChannelRead::Kind::kNothing:
        return false;
      case ChannelRead::Kind::kLine:
        TakeLine(read.text);
        break;
      case ChannelRead::Kind::kHalfLine:
        half_line_ = read.text;
        break;
      case ChannelRead::Kind::kTooLong:
        End(Outcome::kProtocolError,
            fmt::format("a line of more than {}; it begins: {}", HumanBytes(kMaxLineBytes),
                        Printable(read.text, 80)),
            kGraceNs);
        break;
      case ChannelRead::Kind::kEnd:
        if (quiet_since_ns_ == 0) quiet_since_ns_ = NowNs();
        return false;
    }
  }
  return true;
}

void WorkerSession::TakeLine(const std::string& line) {
  // Only a protocol violation discards later messages: any other ended worker may still send its
  // last steps.
  if (event_error_ || (ending_ && ending_->outcome == Outcome::kProtocolError)) return;
  const ProtocolState::Stage before = protocol_.stage();
  const Result<Message> message = protocol_.Take(line);
  if (!message) return End(Outcome::kProtocolError, message.error().message, kGraceNs);
  if (const auto* steps = std::get_if<Steps>(&*message); steps != nullptr && !seen_.first_step_ns)
    NoteFirstStep(*steps);
  NoteEnergy(*message);
  AfterMessage(before);
  const bool refused = ending_ && ending_->outcome == Outcome::kUnsupported;
  if (options_.on_message && !refused) Deliver(options_.on_message(*message));
}

// The window begins with the last line of the warm-up, which is sent before the first timed step,
// and ends with the result.
void WorkerSession::NoteEnergy(const Message& message) {
  if (!options_.instruments || options_.turns) return;
  Instruments& instruments = *options_.instruments;
  const auto* steps = std::get_if<Steps>(&message);
  const bool built = std::holds_alternative<Built>(message);
  if (built || (steps != nullptr && steps->warmup)) energy_.Begin(instruments.energy, NowNs());
  if (std::holds_alternative<Done>(message))
    seen_.energy = energy_.End(instruments.energy, NowNs(), instruments.idle_w);
}

// The first line may hold several steps, which end one after another before it is sent.
void WorkerSession::NoteFirstStep(const Steps& steps) {
  if (steps.step_ns.empty()) return;
  int64_t later_ns = 0;
  for (size_t i = 1; i < steps.step_ns.size(); ++i) later_ns += steps.step_ns[i];
  for (size_t i = 1; i < steps.input_ns.size(); ++i) later_ns += steps.input_ns[i];
  seen_.first_step_ns = std::max<int64_t>(0, NowNs() - process_.launched_ns() - later_ns);
}

void WorkerSession::AfterMessage(ProtocolState::Stage before) {
  if (protocol_.stage() != before) {
    const int64_t now_ns = NowNs();
    if (before == ProtocolState::Stage::kStarting) seen_.hello_ns = now_ns - process_.launched_ns();
    TakeSample(now_ns);
    ReadWithheld();
    if (protocol_.over()) quiet_since_ns_ = now_ns;
  }
  if (ending_ || protocol_.over()) return;
  const auto& hello = protocol_.hello();
  if (!IsVersion(options_.version, hello->worker.version)) {
    const auto missing = hello->worker.facts.find(kMissingFact);
    End(Outcome::kUnsupported,
        missing != hello->worker.facts.end()
            ? missing->second
            : fmt::format("version {} was requested, but {} is installed", options_.version,
                          Printable(hello->worker.version)),
        kGraceNs);
  } else if (options_.end_on_divergence && !protocol_.divergence().empty()) {
    End(Outcome::kDiverged, protocol_.divergence(), kGraceNs);
  }
}

void WorkerSession::TakeSample(int64_t now_ns) {
  if (!options_.instruments) return;
  Instruments& instruments = *options_.instruments;
  const pid_t pid = process_.pid();
  Sample sample = sampler_.Take(pid, now_ns - process_.launched_ns());
  if (!options_.turns) {
    instruments.energy.Poll();
    energy_.Polled();
  }
  if (instruments.nvml) {
    const std::vector<GpuReading> gpus = instruments.nvml->Read({&pid, 1});
    seen_.gpus.Add(gpus);
    if (options_.gpu < gpus.size()) AddReading(gpus[options_.gpu], sample);
  }
  seen_.samples.Add(sample);
  const auto reason = memory_.Judge(sample);
  if (reason && !protocol_.over()) End(Outcome::kOutOfMemory, *reason, 0);
}

// The shares cover warm-up and timed steps.
void WorkerSession::ReadWithheld() {
  if (!options_.instruments || options_.turns || cpus_.empty() || !protocol_.built()) return;
  if (withheld_at_build_.time_ns == 0) {
    withheld_at_build_ = ReadWithheldTime(cpus_);
  } else if (protocol_.done()) {
    seen_.withheld = SharesBetween(withheld_at_build_, ReadWithheldTime(cpus_), cpus_.size());
  }
}

void WorkerSession::Deliver(const Status& delivered) {
  if (delivered.ok()) return;
  event_error_ = delivered.error();
  End(Outcome::kInterrupted, event_error_->message, 0);
  process_.Kill();
}

void WorkerSession::End(Outcome outcome, std::string reason, int64_t grace_ns) {
  if (ending_) return;
  ending_ = Ending{outcome, std::move(reason)};
  process_.Terminate(grace_ns);
}

RunProgress WorkerSession::Progress(int64_t now_ns) const {
  RunProgress progress;
  progress.stage = Name(protocol_.stage());
  const RunSeries& series = protocol_.series();
  progress.steps = static_cast<int64_t>(series.step_ns.size());
  if (!series.step_ns.empty()) progress.last_step_ns = static_cast<double>(series.step_ns.back());
  if (!series.loss.empty()) progress.loss = series.loss.back();
  if (!seen_.samples.empty()) progress.rss_bytes = seen_.samples.samples().back().rss_bytes;
  progress.elapsed_ns = now_ns - process_.launched_ns() - paused_ns_;
  return progress;
}

}  // namespace tench
