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
  std::vector<float> weight, momentum;                 // before
  std::vector<float> gradient, moved, momentum_after;  // after
};

Result<UpdateTensors> ReadUpdate(const Trial& trial, const Parameter& parameter,
                                 const std::filesystem::path& folder) {
  UpdateTensors update;
  update.weight = trial.Start(parameter);
  const auto loaded = trial.reals.find(parameter.name + ".momentum");
  update.momentum =
      loaded != trial.reals.end() ? loaded->second : std::vector<float>(update.weight.size());
  const auto read = [&](std::string_view kind, const std::string& name,
                        std::vector<float>& values) -> Status {
    values.resize(update.weight.size());
    return ReadRaw(TensorPath(folder, kind, name), std::span<float>(values));
  };
  TENCH_TRY(read("gradients", parameter.name, update.gradient));
  TENCH_TRY(read("parameters", parameter.name, update.moved));
  TENCH_TRY(read("state", parameter.name + ".momentum", update.momentum_after));
  return update;
}

void CheckOne(const Parameter& parameter, const Solver& solver, const UpdateTensors& update,
              std::vector<Deviation>& deviations) {
  const double rate = solver.lr * parameter.lr_mult,
               decay = solver.weight_decay * parameter.decay_mult;
  double worst_momentum = 0, worst_weight = 0, movement = 0;
  for (size_t i = 0; i < update.weight.size(); ++i) {
    const double old = solver.momentum * update.momentum[i], slope = rate * update.gradient[i],
                 decayed = rate * decay * update.weight[i], step = old + slope + decayed;
    const double largest = std::max({std::abs(old), std::abs(slope), std::abs(decayed)});
    worst_momentum = std::max(worst_momentum, InUlps(update.momentum_after[i] - step, largest));
    const double scale = std::max(std::abs(double{update.weight[i]}), largest);
    worst_weight =
        std::max(worst_weight, InUlps(update.moved[i] - (update.weight[i] - step), scale));
    movement = std::max(movement, InUlps(step, scale));
  }
  deviations.push_back({"the momentum of " + parameter.name, worst_momentum, kUpdateUlps, 0, ""});
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
