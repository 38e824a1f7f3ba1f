// SPDX-License-Identifier: Apache-2.0
#include "parity/update_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

// An f32 update rounds each product and each sum once.
constexpr double kUpdateUlps = 4;
constexpr double kUlpOfOne = 0x1p-23;
constexpr double kSmallest = 0x1p-126;  // below, results are denormal or flushed to zero

double InUlps(double difference, double magnitude) {
  if (!(std::abs(difference) <= std::numeric_limits<double>::max()))
    return std::numeric_limits<double>::infinity();
  return std::abs(difference) / (kUlpOfOne * std::max(magnitude, kSmallest));
}

struct UpdateTensors {
  std::vector<float> weight, momentum, momentum2;                       // before
  std::vector<float> gradient, moved, momentum_after, momentum2_after;  // after
};

Result<UpdateTensors> ReadUpdate(const Trial& trial, const Parameter& parameter,
                                 const std::filesystem::path& folder) {
  UpdateTensors update;
  update.weight = trial.Start(parameter);
  const auto loaded = [&](const std::string& name) {
    const auto found = trial.reals.find(name);
    return found != trial.reals.end() ? found->second : std::vector<float>(update.weight.size());
  };
  update.momentum = loaded(parameter.name + ".momentum");
  update.momentum2 = loaded(parameter.name + ".momentum2");
  const auto read = [&](std::string_view kind, const std::string& name,
                        std::vector<float>& values) -> Status {
    values.resize(update.weight.size());
    return ReadRaw(TensorPath(folder, kind, name), std::span<float>(values));
  };
  TENCH_TRY(read("gradients", parameter.name, update.gradient));
  TENCH_TRY(read("parameters", parameter.name, update.moved));
  TENCH_TRY(read("state", parameter.name + ".momentum", update.momentum_after));
  if (HasSecondHistory(trial.job.solver.type))
    TENCH_TRY(read("state", parameter.name + ".momentum2", update.momentum2_after));
  return update;
}

// A value, and the magnitude whose rounding may show in it.
struct Bounded {
  double value = 0, scale = 0;
};

// One element before its update.
struct Element {
  double weight, v, s;
  Bounded d;  // the gradient with weight decay
};

struct Moved {
  Bounded v, s, step;  // the histories after the update, and the decrement of the weight
};

// decay·old + (1 - decay)·value². In f32, 1 - decay has the rounding of 1, whatever its size.
Bounded Average(double decay, double old, const Bounded& value) {
  const double square = value.value * value.value;
  return {decay * old + (1 - decay) * square,
          std::max(std::abs(decay * old), std::abs(value.value) * value.scale)};
}

// factor·d / (√h + delta). The rounding of h counts by its share of h.
Bounded Divided(double factor, const Bounded& d, const Bounded& h, double delta) {
  const double root = std::sqrt(h.value), divisor = root + delta;
  const double step = factor * d.value / divisor;
  const double from_root = root > 0 ? h.scale / root / divisor : 0;
  return {step, std::abs(factor) * d.scale / divisor + std::abs(step) * (1 + from_root)};
}

// The update of net/solver.h, the first one for Adam.
Moved MoveElement(const Solver& solver, double rate, const Element& e) {
  const double m = solver.momentum;
  Moved moved;
  switch (solver.type) {
    case SolverType::kSgd:
    case SolverType::kNesterov: {
      moved.v = {m * e.v + rate * e.d.value, std::max(std::abs(m * e.v), rate * e.d.scale)};
      moved.step = moved.v;
      if (solver.type == SolverType::kNesterov)
        moved.step = {(1 + m) * moved.v.value - m * e.v,
                      std::max((1 + m) * moved.v.scale, std::abs(m * e.v))};
      break;
    }
    case SolverType::kAdam: {
      moved.v = {m * e.v + (1 - m) * e.d.value, std::max(std::abs(m * e.v), e.d.scale)};
      moved.s = Average(solver.momentum2, e.s, e.d);
      const double correction = std::sqrt(1 - solver.momentum2) / (1 - m);
      moved.step = Divided(rate * correction, moved.v, moved.s, solver.delta);
      // The corrections contain 1 - momentum and 1 - momentum2 as well.
      moved.step.scale += std::abs(moved.step.value) * (1 / (1 - m) + 1 / (1 - solver.momentum2));
      break;
    }
    case SolverType::kRmsprop:
      moved.v = Average(solver.rms_decay, e.v, e.d);
      moved.step = Divided(rate, e.d, moved.v, solver.delta);
      break;
    case SolverType::kAdagrad:
      moved.v = {e.v + e.d.value * e.d.value, std::max(e.v, std::abs(e.d.value) * e.d.scale)};
      moved.step = Divided(rate, e.d, moved.v, solver.delta);
      break;
    case SolverType::kAdadelta: {
      moved.v = Average(m, e.v, e.d);
      const double ratio = std::sqrt((e.s + solver.delta) / (moved.v.value + solver.delta));
      const double u = e.d.value * ratio;
      const Bounded step{u, e.d.scale * ratio +
                                std::abs(u) * (1 + moved.v.scale / (moved.v.value + solver.delta))};
      moved.s = Average(m, e.s, step);
      moved.step = {rate * u, rate * step.scale};
      break;
    }
  }
  return moved;
}

void CheckOne(const Parameter& parameter, const Solver& solver, const UpdateTensors& update,
              std::vector<Deviation>& deviations) {
  const double rate = solver.lr * parameter.lr_mult,
               decay = solver.weight_decay * parameter.decay_mult;
  const bool l1 = solver.regularization == Regularization::kL1;
  double worst_momentum = 0, worst_momentum2 = 0, worst_weight = 0, movement = 0;
  for (size_t i = 0; i < update.weight.size(); ++i) {
    const double weight = update.weight[i], gradient = update.gradient[i],
                 pull = decay * (l1 ? (weight > 0) - (weight < 0) : weight);
    const Element element{weight,
                          update.momentum[i],
                          update.momentum2[i],
                          {gradient + pull, std::max(std::abs(gradient), std::abs(pull))}};
    const Moved moved = MoveElement(solver, rate, element);
    worst_momentum =
        std::max(worst_momentum, InUlps(update.momentum_after[i] - moved.v.value, moved.v.scale));
    if (!update.momentum2_after.empty())
      worst_momentum2 = std::max(worst_momentum2,
                                 InUlps(update.momentum2_after[i] - moved.s.value, moved.s.scale));
    const double scale = std::max(std::abs(weight), moved.step.scale);
    worst_weight =
        std::max(worst_weight, InUlps(update.moved[i] - (weight - moved.step.value), scale));
    movement = std::max(movement, InUlps(moved.step.value, scale));
  }
  deviations.push_back({"the momentum of " + parameter.name, worst_momentum, kUpdateUlps, 0, ""});
  if (!update.momentum2_after.empty())
    deviations.push_back(
        {"the second momentum of " + parameter.name, worst_momentum2, kUpdateUlps, 0, ""});
  deviations.push_back({"the update of " + parameter.name, worst_weight, kUpdateUlps, movement,
                        "update/" + parameter.name});
}

}  // namespace

std::vector<Deviation> CheckUpdate(const Trial& trial, const std::filesystem::path& folder) {
  std::vector<Deviation> deviations;
  for (const Parameter& parameter : trial.graph.parameters) {
    if (!parameter.trained) continue;
    const Result<UpdateTensors> update = ReadUpdate(trial, parameter, folder);
    if (update.ok()) {
      CheckOne(parameter, trial.job.solver, *update, deviations);
    } else {
      deviations.push_back({"the update of " + parameter.name,
                            std::numeric_limits<double>::infinity(), kUpdateUlps, 0, ""});
    }
  }
  return deviations;
}

}  // namespace tench
