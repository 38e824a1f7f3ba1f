// SPDX-License-Identifier: Apache-2.0
// Caffe prints an iteration's line after its backward pass and before its update. The printed
// seconds have three digits, and the first line's rate is from an uninitialised counter. So time
// stamps are used, and the printed seconds only where a clock was set back.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "logs/caffe_facts.h"
#include "logs/caffe_line.h"
#include "logs/log_lines.h"
#include "logs/training_log.h"

namespace tench {
namespace {

using Kind = CaffeLine::Kind;

class CaffeReader {
 public:
  // `printed`: the printed seconds are exact, as those of `tench train`.
  CaffeReader(std::string_view origin, bool printed) : origin_(origin), printed_(printed) {}

  Status Add(const CaffeLine& line) {
    if (!first_) first_ = line.time;
    last_ = line.time;
    switch (line.kind) {
      case Kind::kStart:
        mark_ = line.time;
        break;
      case Kind::kTestBegin:
        test_begin_ = line.time;
        break;
      case Kind::kTestOutput:
        if (test_begin_) test_us_ = std::max<int64_t>(0, ElapsedUs(*test_begin_, line.time));
        break;
      case Kind::kIteration:
        return AddIteration(line);
      case Kind::kBareIteration:
        bare_ = line;
        break;
      case Kind::kRate:
        return AddBareIteration(line.number);
      case Kind::kFatal:
        Fail(line.text);
        break;
      default:
        break;
    }
    return Ok();
  }

  Result<TrainingLog> Finish() {
    if (log_.loss.empty() && log_.failure == TrainingLog::Failure::kNone) {
      return Failed(
          "{}: no training iteration found; is it a log of `caffe train` with `display` "
          "set in the solver?",
          origin_);
    }
    if (first_)
      log_.wall_ns =
          static_cast<int64_t>(std::clamp(SecondsTo(*first_, last_), 0.0, kMaxLogSeconds) * 1e9);
    return std::move(log_);
  }

 private:
  static double SecondsTo(const GlogTime& from, const GlogTime& to) {
    return static_cast<double>(ElapsedUs(from, to)) / 1e6;
  }

  // Only the learning-rate line proves that the iteration was a training step: the last iteration
  // line of a log is a forward pass.
  Status AddBareIteration(int64_t number) {
    const std::optional<CaffeLine> line = std::exchange(bare_, std::nullopt);
    return line && line->number == number ? AddIteration(*line) : Ok();
  }

  Result<double> SecondsOf(const CaffeLine& line) const {
    if (printed_ && line.seconds && *line.seconds >= 0 && *line.seconds < kMaxLogSeconds)
      return *line.seconds;
    const double stamped =
        mark_ ? SecondsTo(*mark_, line.time) - static_cast<double>(test_us_) / 1e6 : -1;
    if (stamped >= 0 && stamped < kMaxLogSeconds) return stamped;
    if (line.seconds && *line.seconds >= 0 && *line.seconds < kMaxLogSeconds) return *line.seconds;
    return Failed(
        "the duration of iteration {} is unknown: {}", line.number,
        mark_ ? "the time stamps go backwards" : "the log lacks the start of the optimisation");
  }

  Status AddIteration(const CaffeLine& line) {
    int64_t iterations = 1;
    if (log_.loss.empty()) {
      log_.first_step = line.number;
    } else {
      iterations = line.number - previous_;
      if (iterations <= 0) {
        return Failed(
            "iteration {} after iteration {}: two trainings in one log; split it into one file per "
            "training",
            line.number, previous_);
      }
      if (log_.loss.size() == 1) log_.iterations_per_entry = iterations;
    }
    const double seconds = TENCH_TRY(SecondsOf(line));
    log_.step_ns.push_back(std::llround(seconds * 1e9 / static_cast<double>(iterations)));
    log_.loss.push_back(line.value);
    previous_ = line.number;
    mark_ = line.time;
    test_begin_.reset();
    test_us_ = 0;
    return Ok();
  }

  void Fail(std::string_view message) {
    if (log_.failure != TrainingLog::Failure::kNone) return;
    const bool memory = message.find("out of memory") != std::string_view::npos;
    log_.failure = memory ? TrainingLog::Failure::kOutOfMemory : TrainingLog::Failure::kCrashed;
    log_.failure_text = Printable(message);
  }

  std::string origin_;
  bool printed_ = false;
  TrainingLog log_;
  int64_t previous_ = 0;
  std::optional<GlogTime> first_, mark_, test_begin_;
  GlogTime last_;
  int64_t test_us_ = 0;
  std::optional<CaffeLine> bare_;
};

}  // namespace

Result<TrainingLog> ReadCaffeLog(std::string_view text, std::string_view origin) {
  CaffeReader reader(origin, !ReadCaffeFacts(text).worker.empty());
  const auto read = [&](std::string_view line) -> Status {
    const std::optional<CaffeLine> parsed = TENCH_TRY(ParseCaffeLine(line));
    return parsed ? reader.Add(*parsed) : Ok();
  };
  TENCH_TRY(ForEachLogLine(text, origin, read));
  return reader.Finish();
}

Result<TrainingLog> ReadCaffeTimeLog(std::string_view text, std::string_view origin) {
  constexpr std::string_view kInitial = "] Initial loss: ";
  TrainingLog log;
  double loss = std::numeric_limits<double>::quiet_NaN();
  int64_t previous = 0;
  const auto read = [&](std::string_view raw) -> Status {
    if (const size_t at = raw.find(kInitial); at != std::string_view::npos) {
      const Result<double> value = ParseReal(Trim(raw.substr(at + kInitial.size())));
      if (value.ok()) loss = *value;
    }
    const std::optional<CaffeLine> line = TENCH_TRY(ParseCaffeLine(raw));
    if (line && line->kind == Kind::kFatal && log.failure == TrainingLog::Failure::kNone) {
      log.failure = TrainingLog::Failure::kCrashed;
      log.failure_text = Printable(line->text);
    }
    if (!line || line->kind != Kind::kTimed) return Ok();
    if (line->number <= previous)
      return Failed("iteration {} after iteration {}", line->number, previous);
    if (!(line->value >= 0 && line->value < kMaxLogSeconds * 1e3))
      return Failed("iteration {} took {} ms", line->number, line->value);
    if (log.step_ns.empty()) log.first_step = line->number;
    previous = line->number;
    log.step_ns.push_back(std::llround(line->value * 1e6));
    return Ok();
  };
  TENCH_TRY(ForEachLogLine(text, origin, read));
  if (log.step_ns.empty() && log.failure == TrainingLog::Failure::kNone)
    return Failed("{}: no line 'Iteration: N forward-backward time' found", origin);
  log.loss.assign(log.step_ns.size(), loss);
  return log;
}

}  // namespace tench
