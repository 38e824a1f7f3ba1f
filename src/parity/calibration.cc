// SPDX-License-Identifier: Apache-2.0
#include "parity/calibration.h"

#include <algorithm>
#include <cmath>

namespace tench {
namespace {

constexpr double kMovement = 1e-3;  // of a tensor's norm, by one update
constexpr double kMinRms = 0.01;    // of a tensor that starts at zero
// Frameworks group parameters by rate, so a few distinct factors suffice.
constexpr double kFactorBase = 16;
constexpr double kMaxExponent = 20;
constexpr double kNoisyGradient =
    0.1;  // a gradient that jitter changes by this share is rounding noise

double Rms(const Fill& fill) {
  switch (fill.kind) {
    case FillKind::kUniform: {
      const double mean = (fill.a + fill.b) / 2, width = fill.b - fill.a;
      return std::sqrt(mean * mean + width * width / 12);
    }
    case FillKind::kGaussian:
      return std::hypot(fill.a, fill.b);
    default:
      return std::abs(fill.a);
  }
}

double RmsOf(const Trial& steady, const Parameter& parameter) {
  const auto loaded = steady.reals.find(parameter.name);
  if (loaded == steady.reals.end()) return Rms(parameter.fill);
  double squares = 0;
  for (const float value : loaded->second) squares += double{value} * value;
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(1, loaded->second.size())));
}

// "conv1.weight", "lstm.weight_input" -> "conv1.weight", "lstm.weight": the rule of the layer.
std::string RuleName(const TypedGraph& graph, const Parameter& parameter) {
  const std::string& layer = graph.layers[parameter.layer].layer.name;
  return layer + (parameter.name.ends_with(".bias") ? ".bias" : ".weight");
}

}  // namespace

Calibration Calibrate(const Trial& steady, const Answer& answer) {
  Calibration calibration;
  for (const Parameter& parameter : steady.graph.parameters) {
    const auto found = answer.tensors.find("gradients/" + parameter.name);
    if (!parameter.trained || found == answer.tensors.end()) continue;
    const double norm = found->second.sketch.norm;
    if (!(norm > 0) || found->second.change > kNoisyGradient * norm) continue;
    const double rms = std::max(RmsOf(steady, parameter), kMinRms),
                 elements = static_cast<double>(found->second.elements);
    const double wanted = kMovement * rms * std::sqrt(elements) / (kSteadyRate * norm);
    const double exponent = std::clamp(std::round(std::log(wanted) / std::log(kFactorBase)),
                                       -kMaxExponent, kMaxExponent);
    const double factor = std::pow(kFactorBase, exponent);
    // The matrices of an LSTM share a rule: the smaller factor suits both.
    const auto [rule, fresh] =
        calibration.rate_factors.try_emplace(RuleName(steady.graph, parameter), factor);
    if (!fresh) rule->second = std::min(rule->second, factor);
  }
  for (const TypedLayer& layer : steady.graph.layers) {
    const BatchNorm* norm = std::get_if<BatchNorm>(&layer.layer.op);
    const auto mean = answer.tensors.find("state/" + layer.layer.name + ".running_mean"),
               variance = answer.tensors.find("state/" + layer.layer.name + ".running_var");
    if (norm == nullptr || norm->momentum == 0 || mean == answer.tensors.end() ||
        variance == answer.tensors.end())
      continue;
    // After one step: running_mean = momentum · mean, running_var = 1 - momentum + momentum · var.
    const double means = mean->second.scale / norm->momentum,
                 squares = means * means / static_cast<double>(mean->second.elements),
                 average = (variance->second.mean - (1 - norm->momentum)) / norm->momentum;
    calibration.mean_squares[layer.layer.name] = std::max(squares + average, 1e-6);
  }
  return calibration;
}

}  // namespace tench
