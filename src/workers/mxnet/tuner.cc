// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/tuner.h"

#include <limits>

#include "net/fill.h"
#include "worker/option_trial.h"

namespace tench::mxnet {
namespace {

constexpr TrialLimits kLimits{.warmup_steps = 2,
                              .min_steps = 3,
                              .max_steps = std::numeric_limits<int>::max(),
                              .candidate_ns = 300'000'000,
                              .total_ns = 30'000'000'000};

struct Candidate {
  std::string knob, value;
  EngineSettings settings;
};

Status FillForTrial(Network& network, const TypedGraph& graph, const BuildOptions& options) {
  const int threads = static_cast<int>(options.threads);
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    TENCH_TRY(network.WriteParameter(i, [&](const std::string& name, std::span<float> out) {
      FillTensor(options.seed, name, graph.parameters[i].fill, 0, out, threads);
      return Ok();
    }));
  }
  for (const TypedLayer& layer : graph.layers) {
    const Input* input = std::get_if<Input>(&layer.layer.op);
    if (input == nullptr) continue;
    HostTensor tensor{layer.layer.name, layer.output, {}, {}};
    const size_t count = static_cast<size_t>(ElementCount(layer.output.shape));
    if (layer.output.dtype == DType::kF32) {
      tensor.f32.resize(count);
      FillTensor(options.seed, tensor.name, input->fill, 0, std::span<float>(tensor.f32), threads);
    } else {
      tensor.i32.resize(count);
      FillTensor(options.seed, tensor.name, input->fill, 0, std::span<int32_t>(tensor.i32));
    }
    TENCH_TRY(network.WriteInput(tensor));
  }
  // A rate of 0, so that steps cannot diverge during the trial.
  network.SetLearningRate(0);
  return Ok();
}

Result<bool> TrySettings(const Library& library, const TypedGraph& graph,
                         const BuildOptions& options, const EngineSettings& settings,
                         std::string name, OptionTrial& trial) {
  const std::unique_ptr<Network> network =
      TENCH_TRY(Network::Make(library, graph, options, settings));
  TENCH_TRY(FillForTrial(*network, graph, options));
  return trial.Try(std::move(name), [&]() -> Status {
    TENCH_TRY(network->Queue());
    return Wait(library);
  });
}

// The other values of an option, at the best settings so far.
std::vector<Candidate> CandidatesOf(const std::string& knob, const EngineSettings& best,
                                    const BuildOptions& options) {
  std::vector<Candidate> candidates;
  if (options.options.contains(knob)) return candidates;
  const auto add = [&](std::string value, const auto& change) {
    Candidate candidate{knob, std::move(value), best};
    change(candidate.settings);
    candidates.push_back(std::move(candidate));
  };
  if (knob == "subgraph" && options.phase == Phase::kForward)
    add("NONE", [](EngineSettings& s) { s.subgraph = "NONE"; });
  if (knob == "bulk") {
    for (const int64_t bulk : {int64_t{0}, int64_t{60}})
      add(std::to_string(bulk), [&](EngineSettings& s) { s.bulk = bulk; });
  }
  if (knob == "aggregate" && options.phase == Phase::kTrain) {
    for (const int64_t count : {int64_t{4}, int64_t{60}})
      add(std::to_string(count), [&](EngineSettings& s) { s.aggregate = count; });
  }
  return candidates;
}

std::string Milliseconds(int64_t ns) {
  return fmt::format("{:.3f} ms", static_cast<double>(ns) * 1e-6);
}

}  // namespace

Result<Tuning> Tune(const Library& library, const TypedGraph& graph, const BuildOptions& options,
                    const EngineSettings& start) {
  Tuning tuning{start, {}};
  SystemClock clock;
  OptionTrial trial(kLimits, clock);
  TENCH_TRY(TrySettings(library, graph, options, start, "default", trial));
  for (const std::string knob : {"subgraph", "bulk", "aggregate"}) {
    for (const Candidate& candidate : CandidatesOf(knob, tuning.settings, options)) {
      if (trial.OutOfTime()) {
        tuning.choices["trial.stopped"] = "out of time";
        break;
      }
      if (TENCH_TRY(TrySettings(library, graph, options, candidate.settings,
                                fmt::format("{}={}", knob, candidate.value), trial)))
        tuning.settings = candidate.settings;
    }
  }
  for (const TrialTime& time : trial.times())
    tuning.choices["trial." + time.candidate] = Milliseconds(time.step_ns);
  tuning.choices["subgraph"] = tuning.settings.subgraph;
  tuning.choices["bulk"] = std::to_string(tuning.settings.bulk);
  tuning.choices["aggregate"] = std::to_string(tuning.settings.aggregate);
  return tuning;
}

}  // namespace tench::mxnet
