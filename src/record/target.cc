// SPDX-License-Identifier: Apache-2.0
#include "record/target.h"

#include <cmath>

#include "base/text.h"

namespace tench {

bool Target::ReachedBy(const Evaluation& evaluation) const {
  switch (metric) {
    case Metric::kNone:
      break;
    case Metric::kAccuracy:
      return evaluation.top1 && *evaluation.top1 >= value;
    case Metric::kLoss:
      return evaluation.loss <= value;
  }
  return false;
}

Result<Target> ParseTarget(std::string_view text) {
  if (text.empty()) return Target();
  const auto malformed = [&] {
    return Failed("'{}' is neither 'accuracy >= X' nor 'loss <= X'", Printable(text, 60));
  };
  const bool accuracy = text.find(">=") != std::string_view::npos;
  const size_t at = text.find(accuracy ? ">=" : "<=");
  if (at == std::string_view::npos) return malformed();
  const std::string_view name = Trim(text.substr(0, at));
  std::string_view number = Trim(text.substr(at + 2));
  if (name != (accuracy ? "accuracy" : "loss")) return malformed();
  const bool percent = accuracy && number.ends_with('%');
  if (percent) number = Trim(number.substr(0, number.size() - 1));
  const Result<double> value = ParseReal(number);
  if (!value.ok()) return malformed();
  Target target{accuracy ? Target::Metric::kAccuracy : Target::Metric::kLoss,
                percent ? *value / 100 : *value};
  if (accuracy && !(target.value > 0 && target.value <= 1))
    return Failed("'{}': an accuracy is above 0 and at most 1 (or 100%)", Printable(text, 60));
  if (!accuracy && !(target.value > 0 && std::isfinite(target.value)))
    return Failed("'{}': the loss to reach must be above 0", Printable(text, 60));
  return target;
}

std::string ToString(const Target& target) {
  switch (target.metric) {
    case Target::Metric::kNone:
      break;
    case Target::Metric::kAccuracy:
      return fmt::format("accuracy >= {}", target.value);
    case Target::Metric::kLoss:
      return fmt::format("loss <= {}", target.value);
  }
  return "";
}

}  // namespace tench
