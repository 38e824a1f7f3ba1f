// SPDX-License-Identifier: Apache-2.0
#include "cli/forward_pass.h"

#include <filesystem>
#include <set>

#include "base/file.h"
#include "net/graph.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

// A snapshot of a training names momenta and layers that only the training has.
Status KeepKnownTensors(Job& job) {
  const TypedGraph graph = TENCH_TRY(Infer(job.network, job.batch));
  std::set<std::string> known;
  for (const Parameter& parameter : graph.parameters) known.insert(parameter.name);
  std::erase_if(job.tensors.load, [&](const auto& entry) { return !known.contains(entry.first); });
  return Ok();
}

Status ReadBatch(const TypedGraph& graph, const std::vector<std::string>& layers,
                 const std::filesystem::path& folder, std::vector<std::vector<float>>& values) {
  values.resize(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    for (const TypedLayer& layer : graph.layers) {
      if (layer.layer.name == layers[i])
        values[i].resize(static_cast<size_t>(ElementCount(layer.output.shape)));
    }
    TENCH_TRY(ReadRaw(TensorPath(folder, "outputs", layers[i]), std::span<float>(values[i])));
  }
  return Ok();
}

}  // namespace

Result<ForwardAnswer> RunForward(ForwardPass pass, const BatchOutputs& on_batch, StopToken stop) {
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-forward-"));
  Job& job = pass.job;
  job.phase = Phase::kForward;
  job.lr_schedule.clear();
  job.budget = {};
  job.budget.warmup_steps = pass.warmup_batches;
  job.budget.fixed_steps = pass.batches;
  job.snapshots = {};
  TENCH_TRY(KeepKnownTensors(job));
  if (!pass.outputs.empty()) {
    job.tensors.folder = folder.path().string();
    job.tensors.outputs = pass.outputs;
    job.tensors.every_step = true;
  }
  const TypedGraph graph = TENCH_TRY(Infer(job.network, job.batch));
  ForwardAnswer answer;
  TrainingEvents events;
  int64_t finished = 0;
  events.on_steps = [&](const Steps& steps) -> Status {
    finished += static_cast<int64_t>(steps.step_ns.size());
    if (pass.progress) pass.progress(finished);
    if (steps.warmup) return Ok();
    answer.step_ns.insert(answer.step_ns.end(), steps.step_ns.begin(), steps.step_ns.end());
    answer.loss.insert(answer.loss.end(), steps.loss.begin(), steps.loss.end());
    return Ok();
  };
  events.on_snapshot = [](int64_t, const std::filesystem::path&) { return Ok(); };
  const TrainingEnd end =
      TENCH_TRY(Train(*pass.worker, pass.version, std::move(job), events, stop));
  if (end != TrainingEnd::kComplete) return Error{"interrupted", ErrorKind::kFailed};
  std::vector<std::vector<float>> values;
  for (int64_t batch = 0; !pass.outputs.empty() && batch < pass.batches; ++batch) {
    TENCH_TRY(ReadBatch(graph, pass.outputs,
                        folder.path() / std::to_string(pass.warmup_batches + batch + 1), values));
    TENCH_TRY(on_batch(batch, values));
  }
  return answer;
}

}  // namespace tench
