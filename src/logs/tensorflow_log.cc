// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/text.h"
#include "logs/glog_line.h"
#include "logs/log_lines.h"
#include "logs/text_scan.h"
#include "logs/training_log.h"

namespace tench {
namespace {

// The message of TensorFlow's logger: after "INFO:tensorflow:", or after the prefix of later
// versions. Empty if the line is not from that logger.
std::string_view MessageOf(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (TakeText(line, "INFO:tensorflow:")) return line;
  const std::optional<GlogLine> log = ParseGlogLine(line);
  return log ? log->message : std::string_view();
}

void NoteFailure(std::string_view line, TrainingLog& log) {
  if (log.failure != TrainingLog::Failure::kNone) return;
  const bool memory = line.find("ResourceExhaustedError") != std::string_view::npos ||
                      line.find("OOM when allocating") != std::string_view::npos;
  const bool traceback = line.starts_with("Traceback (most recent call last)");
  if (!memory && !traceback) return;
  // An out-of-memory traceback names its cause further down.
  if (memory) log.failure = TrainingLog::Failure::kOutOfMemory;
  log.failure_text = Printable(line);
}

Status AddStep(std::string_view message, int64_t& previous, TrainingLog& log) {
  std::string_view rest = message;
  int64_t number = 0;
  double loss = 0, seconds = 0;
  if (!TakeText(rest, "global step ")) return Ok();
  const bool good = TakeInteger(rest, number) && TakeText(rest, ": loss = ") &&
                    TakeReal(rest, loss) && TakeText(rest, " (") && TakeReal(rest, seconds) &&
                    TakeText(rest, " sec/step)") && rest.empty();
  if (!good)
    return Failed("not in the form 'global step N: loss = L (T sec/step)': '{}'",
                  Printable(message, 100));
  if (!(seconds >= 0 && seconds < kMaxLogSeconds))
    return Failed("{} s is not a plausible step time", seconds);
  if (log.loss.empty()) {
    log.first_step = number;
  } else if (number <= previous) {
    return Failed(
        "step {} after step {}: two trainings in one log; split it into one file per training",
        number, previous);
  } else if (log.loss.size() == 1) {
    log.iterations_per_entry = number - previous;
  }
  previous = number;
  log.loss.push_back(loss);
  log.step_ns.push_back(std::llround(seconds * 1e9));
  return Ok();
}

}  // namespace

Result<TrainingLog> ReadTensorflowLog(std::string_view text, std::string_view origin) {
  TrainingLog log;
  int64_t previous = 0;
  TENCH_TRY(ForEachLogLine(text, origin, [&](std::string_view line) -> Status {
    NoteFailure(line, log);
    return AddStep(MessageOf(line), previous, log);
  }));
  if (!log.failure_text.empty() && log.failure == TrainingLog::Failure::kNone)
    log.failure = TrainingLog::Failure::kCrashed;
  if (log.loss.empty() && log.failure == TrainingLog::Failure::kNone) {
    return Failed(
        "{}: no line 'INFO:tensorflow:global step N: loss = L (T sec/step)' found; is it the "
        "log of a slim training loop?",
        origin);
  }
  return log;
}

}  // namespace tench
