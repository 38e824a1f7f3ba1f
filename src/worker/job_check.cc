// SPDX-License-Identifier: Apache-2.0
#include "worker/job_check.h"

#include <algorithm>

#include "base/text.h"
#include "worker/device_table.h"

namespace tench {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status CheckNamed(std::string_view what, const std::string& name,
                  const std::vector<std::string>& known, const Description& worker) {
  if (Contains(known, name)) return Ok();
  return Unsupported("{} has no {} '{}' (it has: {}){}", worker.name, what, Printable(name),
                     Join(known, ", "), Hint(name, known));
}

Status CheckOption(const std::string& name, const std::string& value, const Description& worker) {
  std::vector<std::string> names;
  for (const WorkerOption& option : worker.options) {
    names.push_back(option.name);
    if (option.name != name || option.choices.empty() || Contains(option.choices, value)) continue;
    return Unsupported("option '{}' of {} cannot be '{}' (choices: {}){}", name, worker.name,
                       Printable(value), Join(option.choices, ", "), Hint(value, option.choices));
  }
  if (Contains(names, name)) return Ok();
  if (names.empty())
    return Unsupported("{} has no option '{}': it has none", worker.name, Printable(name));
  return Unsupported("{} has no option '{}'{}", worker.name, Printable(name), Hint(name, names));
}

Status CheckTensors(const Job& job) {
  const TensorFiles& tensors = job.tensors;
  if (!tensors.any() &&
      (!tensors.outputs.empty() || tensors.gradients || tensors.parameters || tensors.state)) {
    return Failed("job.tensors: tensors are requested, but 'folder' is empty");
  }
  if (tensors.gradients && job.phase == Phase::kForward)
    return Failed("job.tensors: phase forward computes no gradients");
  if (!tensors.observe && !tensors.outputs.empty())
    return Failed("job.tensors: outputs can be read from an observing build only");
  if (!tensors.observe && tensors.gradients && job.phase != Phase::kGradient)
    return Failed(
        "job.tensors: gradients can be read from an observing build or in phase gradient only");
  return Ok();
}

}  // namespace

Status CheckJob(const Job& job, const TypedGraph& graph, const Description& worker) {
  TENCH_TRY(CheckDevice(job.device, worker));
  TENCH_TRY(CheckNamed("precision", job.precision, worker.precisions, worker));
  for (const TypedLayer& layer : graph.layers) {
    for (const std::string& word : OpNeeds(layer.layer.op)) {
      if (!Contains(worker.ops, word))
        return Unsupported("layer '{}': {} has no {}", layer.layer.name, worker.name, word);
    }
  }
  if (job.phase == Phase::kTrain) {
    for (const std::string& word : SolverNeeds(job.solver))
      TENCH_TRY(CheckNamed("update", word, worker.updates, worker));
  }
  for (const auto& [name, value] : job.options) TENCH_TRY(CheckOption(name, value, worker));
  if (job.turns && !worker.turns)
    return Unsupported("{} cannot pause between two steps", worker.name);
  if (job.turns && job.budget.fixed_steps == 0)
    return Failed("job.turns: a job in turns needs a fixed number of steps");
  return CheckTensors(job);
}

Result<Budget> ResolveBudget(const Job& job) {
  Budget budget = job.budget;
  if (budget.epochs == 0) return budget;
  if (budget.fixed_steps > 0) return Failed("job.budget: both fixed_steps and epochs are given");
  const int64_t steps_per_epoch = job.images / job.batch;
  if (steps_per_epoch == 0) {
    return Failed("job.budget: an epoch of {} images has no whole batch of {}", job.images,
                  job.batch);
  }
  if (__builtin_mul_overflow(steps_per_epoch, budget.epochs, &budget.fixed_steps)) {
    return Failed("job.budget: {} epochs of {} steps are too many", budget.epochs, steps_per_epoch);
  }
  return budget;
}

}  // namespace tench
