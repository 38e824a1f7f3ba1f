// SPDX-License-Identifier: Apache-2.0
#include "cli/training_snapshot.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "cli/caffe_weights.h"
#include "net/caffe/caffemodel.h"
#include "net/caffe/solver_state.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

// As Caffe counts them: the drops of the rate up to the last update.
int64_t RateSteps(const LearningRate& rate, int64_t iteration) {
  const int64_t last = std::max<int64_t>(iteration - 1, 0);
  if (rate.policy == RatePolicy::kStep) return last / rate.step_size;
  if (rate.policy != RatePolicy::kMultistep) return 0;
  return std::ranges::upper_bound(rate.step_values, last) - rate.step_values.begin();
}

}  // namespace

SnapshotFiles SnapshotFilesOf(const std::string& prefix, int64_t iteration) {
  const std::string stem = fmt::format("{}_iter_{}", prefix, iteration);
  return {stem + ".caffemodel", stem + ".solverstate"};
}

Status KeepSnapshot(const SnapshotFiles& files, int64_t iteration, const CaffeSolver& solver,
                    const CaffeNetwork& network, const std::filesystem::path& raw) {
  const TypedGraph typed = TENCH_TRY(Infer(network.graph, 1));
  const ParameterSource parameters = [&](const Parameter& parameter, std::span<float> out) {
    return ReadRaw(TensorPath(raw, parameter.trained ? "parameters" : "state", parameter.name),
                   out);
  };
  TENCH_TRY(WriteCaffemodel(files.model, typed, network.names, parameters));
  // Without momentum a framework may keep no history.
  const bool optional = solver.solver.momentum == 0 && !UsesDelta(solver.solver.type);
  const HistorySource history = [&](const std::string& name, std::span<float> out) -> Status {
    const std::filesystem::path file = TensorPath(raw, "state", name);
    std::error_code error;
    if (optional && !std::filesystem::exists(file, error)) return Ok();
    return ReadRaw(file, out);
  };
  const CaffeSolverState state{iteration, files.model, RateSteps(solver.rate, iteration), {}};
  return WriteSolverState(files.state, state, typed, network.names, solver.solver.type, history);
}

Result<ResumedTraining> ResumeTraining(const std::string& state_file, const CaffeSolver& solver,
                                       const CaffeNetwork& network,
                                       const std::filesystem::path& folder) {
  const CaffeSolverState state = TENCH_TRY(ReadSolverState(state_file));
  ResumedTraining resumed;
  resumed.iteration = state.iteration;
  if (resumed.iteration >= solver.max_iterations)
    return Failed("{}: it is of iteration {}, and the training ends at {}; raise max_iter",
                  state_file, resumed.iteration, solver.max_iterations);
  if (state.learned_net.empty()) return Failed("{}: it names no weights", state_file);
  resumed.model = ResolveCaffePath(state.learned_net, state_file);
  WeightFiles weights =
      TENCH_TRY(UnpackWeights(resumed.model, network.graph, network.names, folder));
  resumed.load = std::move(weights.load);
  resumed.notes = std::move(weights.notes);
  const TypedGraph typed = TENCH_TRY(Infer(network.graph, 1));
  const HistorySink sink = [&](const std::string& name, std::span<const float> values) -> Status {
    const std::filesystem::path file = folder / fmt::format("history{}.bin", resumed.load.size());
    resumed.load[name] = file.string();
    return WriteRaw(file, values);
  };
  TENCH_TRY(LoadHistory(state, typed, network.names, solver.solver.type, sink).In(state_file));
  return resumed;
}

}  // namespace tench
