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
               [](const Steps&) { return "steps"; }, [](const Evaluation&) { return "evaluation"; },
               [](const Done&) { return "result"; }, [](const Failure&) { return "error"; }},
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

Status ProtocolState::On(const Steps& steps) {
  if (!built_) return Failed("a 'steps' line before '{}'", hello_ ? "build" : "hello");
  if (steps.warmup && stage_ == Stage::kMeasuring) return Failed("warm-up steps after timed ones");
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
