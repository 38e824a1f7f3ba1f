// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches one launched worker until nothing of it is left: reads its lines and its log as they
// come, samples it ten times a second, and ends it when it breaks a limit or the protocol. Driven
// by events, without sleeping, so that it adds nothing to a run's time. What it all means for the
// run's outcome is said in verdict.h.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/stop_token.h"
#include "base/subprocess.h"
#include "machine/sampler.h"
#include "protocol/channel.h"
#include "record/outcome.h"
#include "run/session/instruments.h"
#include "run/session/log_tail.h"
#include "run/session/memory_watch.h"
#include "run/session/protocol_state.h"
#include "run/session/run_cell.h"
#include "run/session/run_summary.h"

namespace tench {

// Why tench ended the worker, when it did.
struct Ending {
  Outcome outcome = Outcome::kCrashed;
  std::string reason;
};

struct SupervisionOptions {
  int64_t timeout_ns = 0;  // launch to result
  int64_t hello_ns =
      60'000'000'000;               // launch to hello: the slowest framework loads in a tenth of it
  int64_t exit_ns = 5'000'000'000;  // from the last word to the exit
  std::string version;              // of the worker, that the cell asks for; "" = any
  size_t gpu = 0;
};

class Supervision {
 public:
  Supervision(Subprocess child, Fd answers, Fd log, int64_t launched_ns, SupervisionOptions options,
              MemoryWatch memory, Instruments& instruments);

  // Once. `stop` and `progress` as for Execute.
  void Watch(const std::function<void(const RunProgress&)>& progress, StopToken stop);

  const Conversation& conversation() const { return conversation_; }
  const Observations& seen() const { return seen_; }
  const std::optional<Ending>& ending() const { return ending_; }
  const std::optional<std::string>& half_line() const { return half_line_; }
  bool lingered() const { return lingered_; }  // after its result, until it was killed
  const LogTail& log() const { return log_; }
  const MemoryWatch& memory() const { return memory_; }
  int64_t exit_ns() const { return exit_ns_; }

 private:
  void CheckTimes(int64_t now_ns, bool stop);
  int64_t NextDeadline() const;
  void WaitForEvent();
  void ReadLines();
  void TakeLine(const std::string& line);
  void AfterMessage(Conversation::Stage before);
  void TakeSample(int64_t now_ns);
  void End(Outcome outcome, std::string reason, int64_t grace_ns);
  void Kill();
  RunProgress Progress(int64_t now_ns) const;

  Subprocess child_;
  Channel channel_;
  Fd log_fd_;
  int64_t launched_ns_;
  SupervisionOptions options_;
  MemoryWatch memory_;
  Instruments& instruments_;

  Conversation conversation_;
  Observations seen_;
  LogTail log_;
  ProcessSampler sampler_;
  std::optional<Ending> ending_;
  std::optional<std::string> half_line_;
  bool lingered_ = false, more_lines_ = false;
  int64_t next_sample_ns_ = 0;
  int64_t quiet_since_ns_ = 0;  // since the result, the error or the channel's end: time to exit
  int64_t kill_ns_ = 0;         // when the grace of an ending is over
  int64_t killed_ns_ = 0;
  int64_t exit_ns_ = 0;
};

}  // namespace tench
