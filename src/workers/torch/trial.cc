// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/trial.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <malloc.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "net/op_traits.h"
#include "worker/option_trial.h"
#include "workers/torch/step.h"

namespace tench::pytorch {
namespace {

constexpr TrialLimits kLimits{
    .warmup_steps = 1, .min_steps = 2, .max_steps = 10, .candidate_ns = 300'000'000};

struct KnobRow {
  WorkerOption option;
  bool Knobs::*value;  // the second choice is true
};

// Memory comes last, so that a trial changes malloc's thresholds once.
const std::vector<KnobRow>& Rows() {
  static const std::vector<KnobRow> rows = {
      {{"layout",
        "memory layout of images and filters: channels first (PyTorch's default) or last",
        "default",
        {"default", "channels_last"}},
       &Knobs::channels_last},
      {{"kernels",
        "kernels of convolutions and LSTMs: oneDNN's (PyTorch's default), or PyTorch's own over "
        "its BLAS",
        "onednn",
        {"own", "onednn"}},
       &Knobs::onednn},
      {{"memory",
        "freed memory: malloc's default thresholds, or kept in the process for the next step",
        "default",
        {"default", "kept"}},
       &Knobs::keep_memory},
  };
  return rows;
}

bool HasImages(const TypedGraph& graph) {
  return std::ranges::any_of(
      graph.layers, [](const TypedLayer& layer) { return layer.output.shape.size() == 4; });
}

bool HasOneDnnLayers(const TypedGraph& graph) {
  return std::ranges::any_of(graph.layers, [](const TypedLayer& layer) {
    return std::visit(Overload{[](const AnyOf<Convolution, Lstm> auto&) { return true; },
                               [](const AnyOf<FullyConnected, BatchNorm, Scale, Embedding> auto&) {
                                 return false;
                               },
                               [](const ParameterlessOp auto&) { return false; }},
                      layer.layer.op);
  });
}

// Small values neither overflow nor become denormal. Zero is a valid integer for every input but
// lengths.
void MakeUp(Network& network) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : network.parameters())
    at::Tensor(parameter).uniform_(0.001, 0.02);
  for (size_t i = 0; i < network.graph().layers.size(); ++i) {
    const TypedLayer& layer = network.graph().layers[i];
    const Input* input = std::get_if<Input>(&layer.layer.op);
    if (input == nullptr) continue;
    if (layer.output.dtype == DType::kF32) {
      network.SetInput(i, at::rand(layer.output.shape));
    } else {
      network.SetInput(
          i,
          at::zeros(layer.output.shape, at::kInt).add_(input->role == InputRole::kLengths ? 1 : 0));
    }
  }
}

std::string ShortName(const Knobs& knobs) {
  std::vector<std::string> values;
  for (const auto& [option, value] : Names(knobs)) values.push_back(option + "=" + value);
  return Join(values, ",");
}

// A candidate's network, with the learning rate at zero so that its steps cannot diverge.
Result<bool> TryKnobs(const TypedGraph& graph, const BuildOptions& options, const Knobs& knobs,
                      c10::Device device, OptionTrial& trial) {
  Apply(knobs);
  const bool training = options.phase != Phase::kForward;
  const std::unique_ptr<Network> network = TENCH_TRY(Network::Make(
      graph, {device, training, options.dropout, options.observe, knobs.channels_last}));
  MakeUp(*network);
  Solver solver = options.solver;
  solver.lr = 0;
  Update update(graph, network->parameters(), solver, options.observe);
  return trial.Try(ShortName(knobs), [&]() -> Status {
    RunStep(*network, &update, options.phase, device, nullptr);
    return Ok();
  });
}

// For a trial that kept memory and did not win: the thresholds that malloc's dynamic adjustment
// reaches with tensors of this size.
void RestoreMallocThresholds() {
  mallopt(M_MMAP_MAX, 65536);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

}  // namespace

std::vector<WorkerOption> KnobOptions() {
  std::vector<WorkerOption> options;
  for (const KnobRow& row : Rows()) options.push_back(row.option);
  return options;
}

Result<Knobs> KnobsOf(const std::map<std::string, std::string>& options) {
  Knobs knobs;
  for (const KnobRow& row : Rows()) {
    const auto found = options.find(row.option.name);
    if (found == options.end()) continue;
    const auto& choices = row.option.choices;
    if (std::ranges::count(choices, found->second) == 0)
      return Unsupported("option {} is '{}'; it must be {}", row.option.name, found->second,
                         Join(choices, " or "));
    knobs.*row.value = found->second == choices[1];
  }
  return knobs;
}

std::map<std::string, std::string> Names(const Knobs& knobs) {
  std::map<std::string, std::string> names;
  for (const KnobRow& row : Rows())
    names[row.option.name] = row.option.choices[knobs.*row.value ? 1 : 0];
  return names;
}

void Apply(const Knobs& knobs) {
  at::globalContext().setUserEnabledMkldnn(knobs.onednn);
  // Any call of mallopt disables malloc's dynamic thresholds for the life of the process.
  if (!knobs.keep_memory) return;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

std::vector<Knobs> Candidates(const TypedGraph& graph, const BuildOptions& options,
                              const Knobs& base) {
  std::vector<Knobs> candidates = {base};
  for (const KnobRow& row : Rows()) {
    const bool useful = row.value == &Knobs::channels_last ? HasImages(graph)
                        : row.value == &Knobs::onednn      ? HasOneDnnLayers(graph)
                                                           : true;
    if (!useful || options.options.contains(row.option.name)) continue;
    for (size_t i = 0, count = candidates.size(); i < count; ++i) {
      Knobs other = candidates[i];
      other.*row.value = !(other.*row.value);
      candidates.push_back(other);
    }
  }
  return candidates;
}

Result<TrialResult> RunTrial(const TypedGraph& graph, const BuildOptions& options,
                             const Knobs& base, c10::Device device) {
  TrialResult result{base, {}};
  SystemClock clock;
  OptionTrial trial(kLimits, clock);
  bool kept = false;
  for (const Knobs& knobs : Candidates(graph, options, base)) {
    kept = kept || knobs.keep_memory;
    if (TENCH_TRY(TryKnobs(graph, options, knobs, device, trial))) result.best = knobs;
  }
  for (const TrialTime& time : trial.times())
    result.choices["trial " + time.candidate] = HumanNs(static_cast<double>(time.step_ns));
  for (const auto& [option, value] : Names(result.best)) result.choices[option] = value;
  if (kept && !result.best.keep_memory) RestoreMallocThresholds();
  malloc_trim(0);
  return result;
}

}  // namespace tench::pytorch
