// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_outcome.h"

#include <signal.h>

#include "base/text.h"

namespace tench {
namespace {

// A shell or another wrapper exits with 128 + N if signal N killed its child.
constexpr int kShellSignalBase = 128;

std::string WithLog(std::string text, const std::string& last_log_line) {
  return last_log_line.empty() ? text
                               : fmt::format("{}; last line of its log: {}", text, last_log_line);
}

RunOutcome OfFailure(const Failure& failure) {
  const std::string message = Printable(failure.message, 400);
  switch (failure.kind) {
    case ErrorKind::kUnsupported:
      return {Outcome::kUnsupported, message};
    case ErrorKind::kOutOfMemory:
      return {Outcome::kOutOfMemory, message};
    case ErrorKind::kFailed:
      break;
  }
  return {Outcome::kCrashed, message};
}

RunOutcome OfDone(const Evidence& evidence) {
  const auto made = static_cast<int64_t>(evidence.protocol.series().step_ns.size());
  const std::vector<Evaluation>& evaluations = evidence.protocol.evaluations();
  const bool reached = !evaluations.empty() && evidence.until.ReachedBy(evaluations.back());
  if (evidence.fixed_steps > 0 && made != evidence.fixed_steps &&
      !(reached && made < evidence.fixed_steps)) {
    return {Outcome::kProtocolError,
            fmt::format("{} timed steps were requested, but the result has {}",
                        evidence.fixed_steps, made)};
  }
  if (evidence.lingered)
    return {Outcome::kOk, "the worker did not exit after its result and was killed"};
  if (!evidence.exit.clean())
    return {Outcome::kOk,
            fmt::format("the worker ended with {} after its result", evidence.exit.ToString())};
  return {};
}

RunOutcome OfSilence(const Evidence& evidence) {
  const ExitStatus& exit = evidence.exit;
  const std::string_view stage = Name(evidence.protocol.stage());
  if (exit.signal == SIGKILL || exit.code == kShellSignalBase + SIGKILL) {
    if (evidence.killed_for_memory)
      return {Outcome::kOutOfMemory, fmt::format("{} ({})", *evidence.killed_for_memory, stage)};
  }
  if (!exit.clean()) {
    return {Outcome::kCrashed,
            WithLog(fmt::format("{} while {}", exit.ToString(), stage), evidence.last_log_line)};
  }
  if (evidence.half_line) {
    return {Outcome::kProtocolError, fmt::format("the worker exited inside a line, while {}: {}",
                                                 stage, Printable(*evidence.half_line, 80))};
  }
  return {Outcome::kProtocolError,
          WithLog(fmt::format("the worker exited without a result, while {}", stage),
                  evidence.last_log_line)};
}

}  // namespace

Evidence EvidenceOf(const WorkerSession& session, const Job& job) {
  return {session.protocol(),
          session.ending(),
          session.seen().exit.value_or(ExitStatus{}),
          session.half_line(),
          session.lingered(),
          session.process().log().LastLine(),
          session.memory().ExplainKill(OomKills()),
          job.budget.fixed_steps,
          job.evaluation.until};
}

RunOutcome OutcomeOf(const Evidence& evidence) {
  if (evidence.ending) return {evidence.ending->outcome, evidence.ending->reason};
  if (evidence.protocol.failure()) return OfFailure(*evidence.protocol.failure());
  if (evidence.protocol.done()) return OfDone(evidence);
  return OfSilence(evidence);
}

}  // namespace tench
