// SPDX-License-Identifier: Apache-2.0
#include "parity/trial.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "net/builder.h"
#include "net/fill.h"

namespace tench {
namespace {

constexpr int64_t kUpdates = 5;
constexpr double kRate = 0.01;
constexpr int64_t kDropoutSide = 200;  // a sample has its square as elements

// One layer per ratio on a tensor of ones, so that the output shows the scale.
Graph DropoutProbe(const std::vector<double>& ratios) {
  GraphBuilder b("dropout");
  const Shape sample{1, kDropoutSide, kDropoutSide};
  b.Append("ones", Input{InputRole::kData, sample, {FillKind::kConstant, 1, 0}}, {});
  b.Append("target", Input{InputRole::kData, sample, {FillKind::kConstant, 0, 0}}, {});
  Convolution identity{1};
  identity.bias = false;
  b.Append("pass", identity, {"ones"}, {{FillKind::kConstant, 1, 0}});
  for (const double ratio : ratios) {
    const std::string name = fmt::format("dropout-{}", ratio);
    b.Append(name, Dropout{ratio}, {"pass"});
    b.Append(name + ".loss", MeanSquaredError{}, {name, "target"});
  }
  return b.Take();
}

void AskForOps(const OpProbe& probe, Trial& trial) {
  trial.job.network = probe.network;
  trial.job.tensors.outputs = probe.ops;
  trial.job.tensors.gradients = trial.job.tensors.state = true;
  trial.reals = probe.reals;
  trial.integers = probe.integers;
  trial.branch_of = probe.branch_of;
}

void AskForUpdates(Job& job) {
  job.phase = Phase::kTrain;
  job.budget.fixed_steps = kUpdates;
  job.lr_schedule = {kRate, kRate, kRate / 10};
  job.tensors.parameters = job.tensors.state = true;
}

// Weight gradients and channel statistics are sums over the samples and all positions of an image.
int64_t Terms(const Shape& output) {
  if (output.empty()) return 1;
  return output.size() == 4 ? output[0] * output[2] * output[3] : output[0];
}

}  // namespace

std::string_view Name(TrialKind kind) {
  switch (kind) {
    case TrialKind::kOps:
      return "ops";
    case TrialKind::kGradient:
      return "gradient";
    case TrialKind::kTrain:
      return "train";
    case TrialKind::kForward:
      return "forward";
    case TrialKind::kOutputs:
      return "outputs";
    case TrialKind::kDropout:
      break;
  }
  return "dropout";
}

std::vector<double> DropoutRatios(const Graph& network) {
  std::vector<double> ratios;
  for (const Layer& layer : network.layers) {
    const Dropout* dropout = std::get_if<Dropout>(&layer.op);
    if (dropout != nullptr &&
        std::find(ratios.begin(), ratios.end(), dropout->ratio) == ratios.end())
      ratios.push_back(dropout->ratio);
  }
  return ratios;
}

Result<Trial> MakeTrial(const Subject& subject, TrialKind kind) {
  Trial trial;
  trial.kind = kind;
  Job& job = trial.job;
  job.network = subject.network;
  job.batch = subject.batch;
  job.threads = subject.threads;
  job.device = subject.device;
  job.precision = subject.precision;
  job.options = subject.options;
  job.tuned = subject.tuned;
  job.phase = Phase::kGradient;
  job.solver.lr = kRate;
  job.dropout = kind == TrialKind::kDropout;
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = 1;
  switch (kind) {
    case TrialKind::kOps:
      AskForOps(MakeOpProbe(TENCH_TRY(Infer(subject.network, subject.batch))), trial);
      break;
    case TrialKind::kGradient:
      job.tensors.gradients = true;
      break;
    case TrialKind::kTrain:
      AskForUpdates(job);
      break;
    case TrialKind::kForward:
      job.phase = Phase::kForward;
      break;
    case TrialKind::kOutputs:
      job.tensors.outputs = {"*"};
      break;
    case TrialKind::kDropout: {
      job.network = DropoutProbe(DropoutRatios(subject.network));
      job.tensors.outputs = {"*"};
      break;
    }
  }
  trial.graph = TENCH_TRY(
      Infer(kind == TrialKind::kForward ? InferenceGraph(job.network) : job.network, job.batch));
  return trial;
}

std::vector<WantedTensor> Trial::Wanted() const {
  std::vector<WantedTensor> wanted;
  const auto group = [&](size_t layer, std::string_view otherwise) {
    const auto found = branch_of.find(graph.layers[layer].layer.name);
    return found == branch_of.end() ? std::string(otherwise) : found->second;
  };
  const std::vector<std::string>& outputs = job.tensors.outputs;
  const bool all = std::find(outputs.begin(), outputs.end(), "*") != outputs.end();
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const TypedLayer& layer = graph.layers[i];
    if (std::holds_alternative<Input>(layer.layer.op)) continue;
    if (!all && std::find(outputs.begin(), outputs.end(), layer.layer.name) == outputs.end())
      continue;
    wanted.push_back({"outputs", layer.layer.name, group(i, layer.layer.name) + " output",
                      ElementCount(layer.output.shape), 1, nullptr});
  }
  for (const Parameter& parameter : graph.parameters) {
    const int64_t elements = ElementCount(parameter.shape),
                  terms = Terms(graph.layers[parameter.layer].output.shape);
    if (parameter.trained && job.tensors.gradients)
      wanted.push_back({"gradients", parameter.name, group(parameter.layer, "gradients"), elements,
                        terms, nullptr});
    if (parameter.trained && job.tensors.parameters)
      wanted.push_back({"parameters", parameter.name, "parameters", elements, terms, &parameter});
    if (!parameter.trained && job.tensors.state)
      wanted.push_back({"state", parameter.name, group(parameter.layer, "state") + " state",
                        elements, terms, &parameter});
  }
  return wanted;
}

}  // namespace tench
