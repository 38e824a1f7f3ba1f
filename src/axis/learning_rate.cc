// SPDX-License-Identifier: Apache-2.0
#include "axis/learning_rate.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench {
namespace {

constexpr double kMostSetting = 1e6;
constexpr int64_t kMostIterations = int64_t{1} << 31;
constexpr char kStepSeparator = '/';

// The settings of each policy, in the order of the enum.
const std::vector<std::string>& KeysOf(RatePolicy policy) {
  static const std::vector<std::string> keys[] = {
      {},                      // fixed
      {"gamma", "stepsize"},   // step
      {"gamma"},               // exp
      {"gamma", "power"},      // inv
      {"gamma", "stepvalue"},  // multistep
      {"power", "max_iter"},   // poly
      {"gamma", "stepsize"},   // sigmoid
  };
  return keys[static_cast<size_t>(policy)];
}

Result<int64_t> ParseIterations(std::string_view text, int64_t low) {
  const Result<int64_t> value = ParseInteger(text);
  if (!value.ok() || *value < low || *value > kMostIterations)
    return Failed("'{}' is not an integer from {} to {}", Printable(text, 60), low,
                  kMostIterations);
  return *value;
}

Result<double> ParseSetting(std::string_view text) {
  const Result<double> value = ParseReal(text);
  if (!value.ok() || !(std::abs(*value) <= kMostSetting))
    return Failed("'{}' is not a number from {} to {}", Printable(text, 60), -kMostSetting,
                  kMostSetting);
  return *value + 0.0;  // -0 becomes 0
}

Status SetKey(const std::string& key, std::string_view text, LearningRate& rate) {
  if (key == "gamma") {
    rate.gamma = TENCH_TRY(ParseSetting(text));
  } else if (key == "power") {
    rate.power = TENCH_TRY(ParseSetting(text));
  } else if (key == "stepsize") {
    const bool step = rate.policy == RatePolicy::kStep;
    rate.step_size = TENCH_TRY(ParseIterations(text, step ? 1 : -kMostIterations));
  } else if (key == "max_iter") {
    rate.max_iterations = TENCH_TRY(ParseIterations(text, 1));
  } else {
    for (const std::string& value : Split(text, kStepSeparator))
      rate.step_values.push_back(TENCH_TRY(ParseIterations(value, 0)));
    if (!std::ranges::is_sorted(rate.step_values))
      return Failed("'{}' does not increase", Printable(text, 60));
  }
  return Ok();
}

std::string KeyText(const std::string& key, const LearningRate& rate) {
  if (key == "gamma") return fmt::format("{}", rate.gamma);
  if (key == "power") return fmt::format("{}", rate.power);
  if (key == "stepsize") return fmt::format("{}", rate.step_size);
  if (key == "max_iter") return fmt::format("{}", rate.max_iterations);
  std::vector<std::string> values;
  for (const int64_t value : rate.step_values) values.push_back(std::to_string(value));
  return Join(values, std::string(1, kStepSeparator));
}

}  // namespace

const std::vector<std::string>& RatePolicyNames() {
  static const std::vector<std::string> names = {"fixed",     "step", "exp",    "inv",
                                                 "multistep", "poly", "sigmoid"};
  return names;
}

double LearningRate::At(int64_t iteration) const {
  const double at = static_cast<double>(iteration);
  switch (policy) {
    case RatePolicy::kFixed:
      return base;
    case RatePolicy::kStep:
      return base * std::pow(gamma, static_cast<double>(iteration / step_size));
    case RatePolicy::kExp:
      return base * std::pow(gamma, at);
    case RatePolicy::kInv:
      return base * std::pow(1 + gamma * at, -power);
    case RatePolicy::kMultistep: {
      const auto passed =
          std::upper_bound(step_values.begin(), step_values.end(), iteration) - step_values.begin();
      return base * std::pow(gamma, static_cast<double>(passed));
    }
    case RatePolicy::kPoly:
      return base * std::pow(std::max(0.0, 1 - at / static_cast<double>(max_iterations)), power);
    case RatePolicy::kSigmoid:
      return base / (1 + std::exp(-gamma * (at - static_cast<double>(step_size))));
  }
  return base;
}

std::vector<double> LearningRate::Schedule(int64_t count) const {
  std::vector<double> rates;
  if (policy == RatePolicy::kFixed) return rates;
  rates.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) rates.push_back(At(i));
  // The last rate continues, so trailing repeats are redundant.
  while (rates.size() > 1 && rates[rates.size() - 2] == rates.back()) rates.pop_back();
  return rates;
}

Result<LearningRate> ParseRatePolicy(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ',');
  const std::string& name = parts.front();
  const auto found = std::ranges::find(RatePolicyNames(), name);
  if (found == RatePolicyNames().end())
    return Failed("'{}' is not one of {}{}", Printable(name, 60), Join(RatePolicyNames(), ", "),
                  Hint(name, RatePolicyNames()));
  LearningRate rate;
  rate.policy = static_cast<RatePolicy>(found - RatePolicyNames().begin());
  std::vector<std::string> missing = KeysOf(rate.policy);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return Failed("'{}' is not of the form KEY=VALUE", Printable(part, 60));
    const std::string key(part.substr(0, equals));
    const auto open = std::ranges::find(missing, key);
    if (open == missing.end())
      return Failed("{} takes no{} '{}'", name,
                    std::ranges::count(KeysOf(rate.policy), key) > 0 ? " second" : "",
                    Printable(key, 60));
    TENCH_TRY(SetKey(key, part.substr(equals + 1), rate).In(key));
    missing.erase(open);
  }
  if (!missing.empty()) return Failed("{} needs {}", name, Join(missing, " and "));
  return rate;
}

std::string RatePolicyText(const LearningRate& rate) {
  const bool fixed = rate.policy == RatePolicy::kMultistep && rate.step_values.empty();
  const RatePolicy policy = fixed ? RatePolicy::kFixed : rate.policy;
  std::string text = RatePolicyNames()[static_cast<size_t>(policy)];
  for (const std::string& key : KeysOf(policy))
    text += fmt::format(",{}={}", key, KeyText(key, rate));
  return text;
}

}  // namespace tench
