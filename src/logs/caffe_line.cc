// SPDX-License-Identifier: Apache-2.0
#include "logs/caffe_line.h"

#include "base/text.h"
#include "logs/text_scan.h"

namespace tench {
namespace {

using Kind = CaffeLine::Kind;

// `rest` follows "Iteration N".
bool ParseIteration(std::string_view rest, CaffeLine& line) {
  if (TakeText(rest, " (")) {
    line.kind = Kind::kIteration;
    double rate = 0, seconds = 0;
    if (!TakeReal(rest, rate) || !TakeText(rest, " iter/s, ") || !TakeReal(rest, seconds) ||
        !TakeText(rest, "s/"))
      return false;
    line.seconds = seconds;
    return TakeInteger(rest, line.iterations) && line.iterations > 0 &&
           TakeText(rest, " iters), loss = ") && TakeReal(rest, line.value) && rest.empty();
  }
  if (TakeText(rest, ", loss = ")) {
    line.kind = Kind::kBareIteration;
    return TakeReal(rest, line.value) && rest.empty();
  }
  if (TakeText(rest, ", lr = ")) {
    line.kind = Kind::kRate;
    return TakeReal(rest, line.value) && rest.empty();
  }
  if (TakeText(rest, ", Testing net")) line.kind = Kind::kTestBegin;
  return true;
}

bool ParseTimed(std::string_view rest, CaffeLine& line) {
  line.kind = Kind::kTimed;
  return TakeInteger(rest, line.number) && TakeText(rest, " forward-backward time: ") &&
         TakeReal(rest, line.value) && TakeText(rest, " ms.") && rest.empty();
}

bool ParseScore(std::string_view rest, CaffeLine& line) {
  line.kind = Kind::kScore;
  if (!TakeInteger(rest, line.number) || !TakeText(rest, ", ")) return false;
  const size_t equals = rest.rfind(" = ");
  if (equals == std::string_view::npos) return false;
  line.text = rest.substr(0, equals);
  rest.remove_prefix(equals + 3);
  return TakeReal(rest, line.value) && rest.empty();
}

bool ParseMessage(std::string_view rest, CaffeLine& line) {
  if (TakeText(rest, "Iteration "))
    return TakeInteger(rest, line.number) && ParseIteration(rest, line);
  if (TakeText(rest, "Iteration: ")) return ParseTimed(rest, line);
  if (TakeText(rest, "Batch ")) return ParseScore(rest, line);
  if (rest == "Starting Optimization" || rest.starts_with("Solving ")) line.kind = Kind::kStart;
  if (rest.starts_with("    Test net output #")) line.kind = Kind::kTestOutput;
  return true;
}

}  // namespace

Result<std::optional<CaffeLine>> ParseCaffeLine(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  const std::optional<GlogLine> log = ParseGlogLine(text);
  if (!log) return std::optional<CaffeLine>();
  CaffeLine line;
  line.time = log->time;
  if (log->severity == 'F') {
    line.kind = Kind::kFatal;
    line.text = log->message;
    return std::optional(line);
  }
  if (!ParseMessage(log->message, line))
    return Failed("unexpected form of a Caffe log line: '{}'", Printable(log->message, 100));
  return std::optional(line);
}

}  // namespace tench
