// SPDX-License-Identifier: Apache-2.0
#include "worker/op_parity.h"

#include <algorithm>

namespace tench {
namespace {

// A loss near zero keeps the rounding error of the scores, which does not shrink with it.
constexpr double kLossFloor = 0.5;

void CompareTensors(const std::string& kind, const Tensors& expected, const Tensors& got,
                    const ParityBounds& bounds, std::vector<std::string>& differences) {
  for (const auto& [name, values] : expected) {
    if (!got.contains(name)) {
      differences.push_back(fmt::format("{} {}: missing", kind, name));
      continue;
    }
    const double error = RelativeError(values, got.at(name), bounds.floor);
    if (!(error <= bounds.tolerance))
      differences.push_back(
          fmt::format("{} {}: {:.2e} exceeds {:.0e}", kind, name, error, bounds.tolerance));
  }
  for (const auto& [name, values] : got) {
    if (!expected.contains(name)) differences.push_back(fmt::format("{} {}: unknown", kind, name));
  }
}

}  // namespace

std::vector<std::string> Differences(const AdapterRun& expected, const AdapterRun& got,
                                     const ParityBounds& bounds) {
  std::vector<std::string> differences;
  if (expected.losses.size() != got.losses.size())
    differences.push_back(
        fmt::format("{} losses instead of {}", got.losses.size(), expected.losses.size()));
  for (size_t i = 0; i < std::min(expected.losses.size(), got.losses.size()); ++i) {
    const double bound = bounds.tolerance * std::max(std::abs(expected.losses[i]), kLossFloor);
    if (!(std::abs(got.losses[i] - expected.losses[i]) <= bound))
      differences.push_back(
          fmt::format("loss of step {}: {} instead of {}", i, got.losses[i], expected.losses[i]));
  }
  CompareTensors("output", expected.outputs, got.outputs, bounds, differences);
  CompareTensors("gradient", expected.gradients, got.gradients, bounds, differences);
  CompareTensors("parameter", expected.parameters, got.parameters, bounds, differences);
  CompareTensors("state", expected.state, got.state, bounds, differences);
  return differences;
}

std::vector<std::string> CompareAdapters(Adapter& reference, Adapter& worker, const Graph& graph,
                                         int64_t batch, const RunPlan& plan,
                                         const ParityBounds& bounds) {
  RunPlan plain = plan;
  plain.options.clear();
  const Result<AdapterRun> expected = RunNetwork(reference, graph, batch, plain);
  if (!expected.ok()) return {"reference: " + expected.error().message};
  const Result<AdapterRun> got = RunNetwork(worker, graph, batch, plan);
  if (!got.ok()) return {"worker: " + got.error().message};
  return Differences(*expected, *got, bounds);
}

std::vector<std::string> CompareOpCase(Adapter& reference, Adapter& worker, const OpCase& op_case,
                                       const std::map<std::string, std::string>& options,
                                       const ParityBounds& bounds) {
  constexpr int64_t kBatch = 4;
  const ParityBounds further{3 * bounds.tolerance, bounds.floor};
  struct Build {
    Phase phase;
    bool observe;
    int steps;
    ParityBounds bounds;
  };
  std::vector<std::string> all;
  for (const Build& build :
       {Build{Phase::kTrain, true, 1, bounds}, Build{Phase::kTrain, false, 4, further},
        Build{Phase::kGradient, false, 1, bounds}, Build{Phase::kForward, true, 1, bounds},
        Build{Phase::kForward, false, 1, bounds}}) {
    const RunPlan plan{build.phase, build.observe, 2, build.steps, options};
    for (const std::string& difference :
         CompareAdapters(reference, worker, op_case.graph, kBatch, plan, build.bounds))
      all.push_back(fmt::format("{}, {}{}: {}", op_case.name, Name(build.phase),
                                build.observe ? ", observed" : "", difference));
  }
  return all;
}

std::vector<std::string> CompareTimedGradients(Adapter& reference, Adapter& worker,
                                               const Graph& graph, int64_t batch,
                                               const std::map<std::string, std::string>& options,
                                               const ParityBounds& bounds) {
  const Result<AdapterRun> expected =
      RunNetwork(reference, graph, batch, {.phase = Phase::kGradient, .steps = 1});
  if (!expected.ok()) return {"reference: " + expected.error().message};
  const auto run = [&]() -> Result<Tensors> {
    BuildOptions timed;
    timed.threads = 2;
    timed.phase = Phase::kGradient;
    timed.dropout = false;
    timed.options = options;
    const TypedGraph typed = TENCH_TRY(Infer(graph, batch));
    const BuildFacts facts = TENCH_TRY(Prepare(worker, typed, timed));
    if (!facts.gradients_materialized) return Failed("gradients are not materialized");
    for (int step = 0; step < 3; ++step) TENCH_TRY(worker.Step(timed.phase));
    Tensors gradients;
    TENCH_TRY(worker.Gradients(Into(gradients)));
    return gradients;
  };
  const Result<Tensors> got = run();
  if (!got.ok()) return {got.error().message};
  std::vector<std::string> differences;
  CompareTensors("gradient", expected->gradients, *got, bounds, differences);
  return differences;
}

}  // namespace tench
