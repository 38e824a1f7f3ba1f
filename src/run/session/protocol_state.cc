// SPDX-License-Identifier: Apache-2.0
#include "run/session/protocol_state.h"

#include <algorithm>
#include <cmath>

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
               [](const Steps&) { return "steps"; }, [](const Done&) { return "result"; },
               [](const Failure&) { return "error"; }},
      message);
}

}  // namespace

std::string_view Name(Conversation::Stage stage) {
  switch (stage) {
    case Conversation::Stage::kStarting:
      return "starting";
    case Conversation::Stage::kBuilding:
      return "building";
    case Conversation::Stage::kWarmingUp:
      return "warming up";
    case Conversation::Stage::kMeasuring:
      return "measuring";
    case Conversation::Stage::kDone:
    case Conversation::Stage::kFailed:
      break;
  }
  return "ending";
}

Status Conversation::Take(std::string_view line) {
  Result<Message> message = ParseMessage(line);
  if (!message)
    return Failed("{}; the line begins: {}", message.error().message, Printable(line, 80));
  if (over()) {
    return Failed("a '{}' line after the {}", TypeName(*message),
                  stage_ == Stage::kDone ? "result" : "error");
  }
  return std::visit([this](auto&& alternative) { return On(std::move(alternative)); },
                    *std::move(message));
}

Status Conversation::On(Hello hello) {
  if (stage_ != Stage::kStarting) return Failed("a second 'hello' line");
  hello_ = std::move(hello);
  stage_ = Stage::kBuilding;
  return Ok();
}

Status Conversation::On(Built built) {
  if (stage_ == Stage::kStarting) return Failed("a 'build' line before 'hello'");
  if (built_) return Failed("a second 'build' line");
  built_ = std::move(built);
  stage_ = Stage::kWarmingUp;
  return Ok();
}

Status Conversation::On(Steps steps) {
  if (!built_) return Failed("a 'steps' line before '{}'", hello_ ? "build" : "hello");
  if (steps.warmup && stage_ == Stage::kMeasuring) return Failed("warm-up steps after timed ones");
  const size_t expected = series_.loss.size();
  if (steps.first != static_cast<int64_t>(expected)) {
    return Failed("a 'steps' line that begins at step {}, where {} was due", steps.first, expected);
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
  Append(steps.warmup ? series_.warmup_ns : series_.step_ns, steps.step_ns);
  if (!steps.warmup) Append(series_.input_ns, steps.input_ns);
  Append(series_.loss, steps.loss);
  if (!steps.warmup) stage_ = Stage::kMeasuring;
  return Ok();
}

Status Conversation::On(Done done) {
  if (series_.step_ns.empty()) return Failed("a 'result' line before any timed step");
  done_ = done;
  stage_ = Stage::kDone;
  return Ok();
}

Status Conversation::On(Failure failure) {
  failure_ = std::move(failure);
  stage_ = Stage::kFailed;
  return Ok();
}

}  // namespace tench
