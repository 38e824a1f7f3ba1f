// SPDX-License-Identifier: Apache-2.0
#pragma once
// One worker on one job: checks its lines against the protocol as they arrive, samples the process
// ten times a second, and ends it if it exceeds a limit or violates the protocol. All jobs use this
// class: timed runs, parity trials and training. A worker of a job in turns is paused between its
// slices, which counts for no limit. Not aware of a run's outcome (run_outcome.h) or of
// the store.
//
// Ownership: owns the process; it is gone when Watch returns or the session is destroyed.
// Thread safety: none; it belongs to the thread that called Start.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/stop_token.h"
#include "machine/sampler.h"
#include "machine/withheld_time.h"
#include "plan/suite.h"
#include "protocol/channel.h"
#include "record/outcome.h"
#include "run/session/instruments.h"
#include "run/session/memory_watch.h"
#include "run/session/protocol_state.h"
#include "run/session/run_request.h"
#include "run/session/run_summary.h"
#include "run/session/worker_process.h"

namespace tench {

// The outcome and reason of a worker that tench ended.
struct Ending {
  Outcome outcome = Outcome::kCrashed;
  std::string reason;
};

struct SessionOptions {
  int64_t timeout_ns = 0;  // launch to result; 0 = none
  // Launch to hello; 0 = none. The slowest framework loads in a tenth of the default.
  int64_t hello_ns = 60'000'000'000;
  int64_t exit_ns = 5'000'000'000;      // last line to exit
  int64_t stop_grace_ns = 500'000'000;  // SIGTERM to SIGKILL after a stop, to send the last steps
  std::string version;                  // the worker version that the cell names; "" = any
  bool end_on_divergence = true;        // at the first loss that is not finite
  // Null: the process is not sampled, and its memory is not limited.
  Instruments* instruments = nullptr;
  size_t gpu = 0;                  // index of the GPU that is sampled
  bool turns = false;              // Job::turns; energy is not measured then
  int64_t memory_limit_bytes = 0;  // 0 = unlimited
  SwapPolicy swap = SwapPolicy::kAllow;
  // Called with every valid line, and ten times a second. An error kills the worker and ends the
  // events.
  std::function<Status(const Message&)> on_message = {};
  std::function<Status()> on_tick = {};

  // Samples the process under these limits. The default memory limit is the machine's.
  static SessionOptions Limited(const Limits& limits, const std::string& version,
                                Instruments& instruments);
};

class WorkerSession : private WorkerProcess::Watcher {
 public:
  // Fails if the program cannot be executed.
  static Result<WorkerSession> Start(WorkerLaunch launch, SessionOptions options);

  // Returns when the worker and all its descendants are gone. Call once. `progress` may be null.
  void Watch(const std::function<void(const RunProgress&)>& progress, StopToken stop);

  // A job in turns. WatchTurn returns true, with the worker paused, when it waits for a turn, and
  // false when it is gone as after Watch. Go and EndTurns resume it; they are followed by WatchTurn
  // and by Watch.
  bool WatchTurn(const std::function<void(const RunProgress&)>& progress, StopToken stop);
  void Go(const Turn& turn);
  void EndTurns();
  // Ends a paused worker as `interrupted`; followed by Watch.
  void Abandon();
  // `other` was started later, and lives on when this worker ends.
  void Spare(const WorkerSession& other) { process_.Spare(other.process_); }
  int64_t paused_ns() const { return paused_ns_; }  // in all
  // Of each slice: from Go to the end of its last step.
  const std::vector<WithheldShares>& slices_withheld() const { return slices_withheld_; }

  const WorkerProcess& process() const { return process_; }
  const ProtocolState& protocol() const { return protocol_; }
  const Observations& seen() const { return seen_; }
  const std::optional<Ending>& ending() const { return ending_; }
  const std::optional<Error>& event_error() const { return event_error_; }
  const std::optional<std::string>& half_line() const { return half_line_; }
  bool lingered() const { return lingered_; }  // after its result, until it was killed
  const MemoryWatch& memory() const { return memory_; }

 private:
  WorkerSession(WorkerProcess process, SessionOptions options, MemoryWatch memory,
                std::vector<int> cpus);

  int answers_fd() const override { return channel_.fd(); }
  bool ReadAnswers() override;
  int64_t OnWake(int64_t now_ns) override;
  void OnExit() override;

  void Begin();
  void CheckTimes(int64_t now_ns);
  int64_t NextDeadline() const;
  void TakeLine(const std::string& line);
  void NoteFirstStep(const Steps& steps);
  void NoteEnergy(const Message& message);
  void AfterMessage(ProtocolState::Stage before);
  void TakeSample(int64_t now_ns);
  void ReadWithheld();
  void Resume();
  void NoteSlice();
  void Deliver(const Status& delivered);
  void End(Outcome outcome, std::string reason, int64_t grace_ns);
  RunProgress Progress(int64_t now_ns) const;

  WorkerProcess process_;
  Channel channel_;
  SessionOptions options_;
  MemoryWatch memory_;
  std::function<void(const RunProgress&)> progress_;
  StopToken stop_;

  ProtocolState protocol_;
  Observations seen_;
  ProcessSampler sampler_;
  std::vector<int> cpus_;           // of the worker
  WithheldTime withheld_at_build_;  // at the end of Build; time_ns 0 = not read
  std::vector<WithheldShares> slices_withheld_;
  WithheldTime withheld_at_go_;
  double steal_ns_ = 0, throttled_ns_ = 0, slices_ns_ = 0;  // over all slices
  EnergyWindow energy_;
  bool begun_ = false;                           // the instruments are
  int64_t paused_since_ns_ = 0, paused_ns_ = 0;  // since: 0 = not paused
  std::optional<Ending> ending_;
  std::optional<Error> event_error_;
  std::optional<std::string> half_line_;
  bool lingered_ = false;
  int64_t next_tick_ns_ = 0;
  int64_t quiet_since_ns_ = 0;  // time of the result, the error or the end of the channel
};

}  // namespace tench
