// SPDX-License-Identifier: Apache-2.0
#include "wrong_update.h"

#include <algorithm>

namespace tench {

WrongUpdate::WrongUpdate(Mistake mistake, const TypedGraph& graph, const Solver& solver)
    : mistake_(mistake), graph_(graph), solver_(solver) {}

Status WrongUpdate::Apply(Adapter& adapter) {
  if (parts_.empty()) {
    TENCH_TRY(adapter.Parameters([&](const std::string& name, std::span<const float> values) {
      parts_[name].push_back({{values.begin(), values.end()}, std::vector<float>(values.size())});
      return Ok();
    }));
    for (const Parameter& parameter : graph_.parameters) {
      const bool gates = std::holds_alternative<Lstm>(graph_.layers[parameter.layer].layer.op) &&
                         parameter.name.ends_with(".bias");
      const size_t count = static_cast<size_t>(ElementCount(parameter.shape));
      if (mistake_ == Mistake::kTwoBiases && gates)
        parts_[parameter.name].push_back({std::vector<float>(count), std::vector<float>(count)});
    }
  }
  TENCH_TRY(adapter.Gradients([&](const std::string& name, std::span<const float> gradient) {
    const auto parameter = std::find_if(graph_.parameters.begin(), graph_.parameters.end(),
                                        [&](const Parameter& p) { return p.name == name; });
    for (Part& part : parts_.at(name)) Move(*parameter, gradient, part);
    return Ok();
  }));
  return adapter.SetParameters([&](const std::string& name, std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0f);
    for (const Part& part : parts_.at(name))
      for (size_t i = 0; i < out.size(); ++i) out[i] += part.values[i];
    return Ok();
  });
}

void WrongUpdate::Move(const Parameter& parameter, std::span<const float> gradient,
                       Part& part) const {
  const double rate = solver_.lr * parameter.lr_mult,
               decay = solver_.weight_decay * parameter.decay_mult;
  const bool outer = mistake_ == Mistake::kOuterRate;
  for (size_t i = 0; i < gradient.size(); ++i) {
    const double slope = gradient[i] + decay * part.values[i];
    part.momenta[i] =
        static_cast<float>(solver_.momentum * part.momenta[i] + (outer ? slope : rate * slope));
    part.values[i] =
        static_cast<float>(part.values[i] - (outer ? rate * part.momenta[i] : part.momenta[i]));
  }
}

Status WrongUpdate::Momenta(const TensorSink& sink) const {
  for (const auto& [name, parts] : parts_)
    TENCH_TRY(sink(name + ".momentum", parts.front().momenta));
  return Ok();
}

}  // namespace tench
