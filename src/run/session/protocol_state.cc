// SPDX-License-Identifier: Apache-2.0
#include "run/session/protocol_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace tench {
namespace {

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::string_view TypeName(const Message& message) {
  return std::visit(
      Overload{[](const Hello&) { return "hello"; }, [](const Built&) { return "build"; },
               [](const Steps&) { return "steps"; }, [](const Ready&) { return "ready"; },
               [](const Evaluation&) { return "evaluation"; }, [](const Done&) { return "result"; },
               [](const Failure&) { return "error"; }},
      message);
}

}  // namespace

std::string_view Name(ProtocolState::Stage stage) {
  switch (stage) {
    case ProtocolState::Stage::kStarting:
      return "starting";
    case ProtocolState::Stage::kBuilding:
      return "building";
    case ProtocolState::Stage::kWarmingUp:
      return "warming up";
    case ProtocolState::Stage::kMeasuring:
      return "measuring";
    case ProtocolState::Stage::kDone:
    case ProtocolState::Stage::kFailed:
      break;
  }
  return "ending";
}

Result<Message> ProtocolState::Take(std::string_view line) {
  Result<Message> message = ParseMessage(line);
  if (!message)
    return Failed("{}; the line begins: {}", message.error().message, Printable(line, 80));
  if (over()) {
    return Failed("a '{}' line after the {}", TypeName(*message),
                  stage_ == Stage::kDone ? "result" : "error");
  }
  TENCH_TRY(std::visit([this](const auto& alternative) { return On(alternative); }, *message));
  return message;
}

Status ProtocolState::On(const Hello& hello) {
  if (stage_ != Stage::kStarting) return Failed("a second 'hello' line");
  hello_ = hello;
  stage_ = Stage::kBuilding;
  return Ok();
}

Status ProtocolState::On(const Built& built) {
  if (stage_ == Stage::kStarting) return Failed("a 'build' line before 'hello'");
  if (built_) return Failed("a second 'build' line");
  built_ = built;
  stage_ = Stage::kWarmingUp;
  return Ok();
}

Status ProtocolState::CheckTurn(const Steps& steps) const {
  if (!turns_) return Ok();
  if (waiting_ || (!turn_ && !steps.warmup)) return Failed("a 'steps' line without a turn");
  if (!turn_) return Ok();
  const auto count = static_cast<int64_t>(steps.step_ns.size());
  const auto made =
      static_cast<int64_t>(steps.warmup ? series_.warmup_ns.size() : series_.step_ns.size());
  const bool too_many = steps.warmup ? made + count > before_.warmup_steps + turn_->warmup_steps
                                     : made + count > before_.steps + turn_->steps;
  if (too_many) return Failed("more steps than in the turn of {}", turn_->steps);
  return Ok();
}

Status ProtocolState::On(const Steps& steps) {
  if (!built_) return Failed("a 'steps' line before '{}'", hello_ ? "build" : "hello");
  const bool slice_begins = turn_ && static_cast<int64_t>(series_.step_ns.size()) == before_.steps;
  const bool outside = turns_ && (waiting_ || (!turn_ && !steps.warmup));
  if (steps.warmup && !outside && stage_ == Stage::kMeasuring && !slice_begins)
    return Failed("warm-up steps after timed ones");
  TENCH_TRY(CheckTurn(steps));
  const size_t expected = series_.loss.size();
  if (steps.first != static_cast<int64_t>(expected)) {
    return Failed("a 'steps' line that begins at step {}, expected {}", steps.first, expected);
  }
  if (!steps.warmup && !series_.step_ns.empty() && !steps.step_ns.empty() &&
      steps.input_ns.empty() != series_.input_ns.empty()) {
    return Failed("input times for some of the steps only");
  }
  for (size_t i = 0; i < steps.loss.size(); ++i) {
    if (divergence_.empty() && !std::isfinite(steps.loss[i])) {
      divergence_ = fmt::format("the loss is {} at step {}", steps.loss[i], expected + i);
    }
    if (steps.loss[i] < 0) negative_loss_ = true;
  }
  train_ns_ = std::accumulate(steps.step_ns.begin(), steps.step_ns.end(), train_ns_);
  train_ns_ = std::accumulate(steps.input_ns.begin(), steps.input_ns.end(), train_ns_);
  Append(steps.warmup ? series_.warmup_ns : series_.step_ns, steps.step_ns);
  if (!steps.warmup) Append(series_.input_ns, steps.input_ns);
  Append(series_.loss, steps.loss);
  if (!steps.warmup) compilations_ += steps.compilations;
  if (!steps.warmup) stage_ = Stage::kMeasuring;
  return Ok();
}

void ProtocolState::Go(const Turn& turn) {
  Check(waiting_, "a turn is given to a worker that waits for it");
  waiting_ = false;
  turn_ = turn;
  before_ = {static_cast<int64_t>(series_.warmup_ns.size()),
             static_cast<int64_t>(series_.step_ns.size())};
}

Status ProtocolState::On(const Ready&) {
  if (!turns_) return Failed("a 'ready' line, but the job has no turns");
  if (!built_) return Failed("a 'ready' line before '{}'", hello_ ? "build" : "hello");
  if (waiting_) return Failed("a second 'ready' line");
  if (turn_) {
    const Turn made{static_cast<int64_t>(series_.warmup_ns.size()) - before_.warmup_steps,
                    static_cast<int64_t>(series_.step_ns.size()) - before_.steps};
    if (made != *turn_) {
      return Failed("a slice of {} warm-up and {} timed steps, requested were {} and {}",
                    made.warmup_steps, made.steps, turn_->warmup_steps, turn_->steps);
    }
    slices_.push_back(made);
    turn_.reset();
  }
  waiting_ = true;
  return Ok();
}

Status ProtocolState::On(const Evaluation& evaluation) {
  if (!built_) return Failed("an 'evaluation' line before '{}'", hello_ ? "build" : "hello");
  const auto steps = static_cast<int64_t>(series_.loss.size());
  if (evaluation.step != steps)
    return Failed("an 'evaluation' line of step {}, after {} steps", evaluation.step, steps);
  if (!evaluations_.empty() && evaluations_.back().step == steps)
    return Failed("a second 'evaluation' line of step {}", steps);
  evaluations_.push_back(evaluation);
  evaluations_.back().train_ns = train_ns_;
  return Ok();
}

Status ProtocolState::On(const Done& done) {
  if (waiting_ || turn_) return Failed("a 'result' line before the last turn");
  if (series_.step_ns.empty()) return Failed("a 'result' line before any timed step");
  done_ = done;
  stage_ = Stage::kDone;
  return Ok();
}

Status ProtocolState::On(const Failure& failure) {
  failure_ = failure;
  stage_ = Stage::kFailed;
  return Ok();
}

}  // namespace tench
