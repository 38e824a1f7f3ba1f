// SPDX-License-Identifier: Apache-2.0
#include "parity/trial.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "net/fill.h"
#include "net/op_traits.h"
#include "parity/conditioned.h"
#include "parity/dropout_probe.h"
#include "parity/op_probe.h"

namespace tench {
namespace {

constexpr double kRate = 0.01;
constexpr int64_t kUpdates = 3;
constexpr int64_t kInferences = 8;  // of the timed build, each with other labels
constexpr uint64_t kTrialSeed = 0x747269616c;
// Momenta of larger tensors start at zero: their files would only cost time.
constexpr int64_t kMaxLoadedMomentum = int64_t{4} << 20;
constexpr double kMomentumScale = 1e-3;

// A job without the settings that network trials choose themselves.
Job PlainJob(const Subject& subject) {
  Job job = subject.job;
  job.batch = subject.batch;
  job.cycled = false;
  job.data_threads = 0;
  job.prefetch = BuildSettings().prefetch;
  job.images = job.labels = 0;
  job.seed = 1;
  job.phase = Phase::kGradient;
  job.solver = {};
  job.solver.lr = kRate;
  job.lr_schedule.clear();
  job.dropout = false;
  job.budget = {};
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = 1;
  job.tensors = {};
  job.snapshots = {};
  job.profile = false;
  job.trace = {};
  job.traced_steps = 0;
  return job;
}

void AskForOps(OpProbe probe, Trial& trial) {
  trial.job.network = std::move(probe.network);
  trial.job.tensors.outputs = std::move(probe.ops);
  trial.job.tensors.gradients = trial.job.tensors.state = true;
  trial.reals = std::move(probe.reals);
  trial.integers = std::move(probe.integers);
  trial.branch_of = std::move(probe.branch_of);
}

void AskForDropout(const Graph& network, Trial& trial) {
  DropoutProbe probe = MakeDropoutProbe(DropoutRatios(network), trial.job.batch);
  trial.job.network = std::move(probe.network);
  trial.reals = std::move(probe.reals);
  trial.job.phase = Phase::kTrain;
  trial.job.dropout = true;
  trial.job.solver.lr = probe.rate;
  trial.job.solver.momentum = trial.job.solver.weight_decay = 0;
  trial.job.budget.fixed_steps = 2;
  trial.job.snapshots.after = {1, 2};
}

Status UseConditioned(Trial& trial) {
  ConditionedNetwork conditioned = TENCH_TRY(Condition(trial.job.network, trial.job.batch));
  trial.job.network = std::move(conditioned.network);
  trial.reals = std::move(conditioned.reals);
  return Ok();
}

// A decay that is not multiplied with the rate keeps its size, whatever the factor.
void ApplyFactor(const Calibration& calibration, const std::string& name, ParameterRule& rule) {
  const auto found = calibration.rate_factors.find(name);
  if (found == calibration.rate_factors.end()) return;
  rule.lr_mult *= found->second;
  rule.decay_mult /= found->second;
}

void ApplyFactors(const Calibration& calibration, Graph& network) {
  for (Layer& layer : network.layers) {
    ApplyFactor(calibration, layer.name + ".weight", layer.weight);
    ApplyFactor(calibration, layer.name + ".bias", layer.bias);
  }
}

// Momenta that differ from zero show the factor of the solver's momentum.
Status LoadMomenta(Trial& trial) {
  const TypedGraph graph = TENCH_TRY(Infer(trial.job.network, trial.job.batch));
  for (const Parameter& parameter : graph.parameters) {
    const int64_t elements = ElementCount(parameter.shape);
    if (!parameter.trained || parameter.lr_mult == 0 || elements > kMaxLoadedMomentum) continue;
    // All histories but Adam's first and those of SGD are means of squares.
    const SolverType type = trial.job.solver.type;
    const auto load = [&](const std::string& name, bool square) {
      std::vector<float>& values = trial.reals[name];
      values.resize(static_cast<size_t>(elements));
      const double low = square ? 0 : -kMomentumScale;
      FillTensor(kTrialSeed, name, {FillKind::kUniform, low, kMomentumScale}, 0, values);
    };
    load(parameter.name + ".momentum", UsesDelta(type) && type != SolverType::kAdam);
    if (HasSecondHistory(type)) load(parameter.name + ".momentum2", true);
  }
  return Ok();
}

// Statistics of about the size of the activations, so that logits stay moderate.
void LoadStatistics(const Calibration& calibration, Trial& trial) {
  for (const Parameter& parameter : trial.graph.parameters) {
    if (parameter.trained) continue;
    const auto found =
        calibration.mean_squares.find(trial.graph.layers[parameter.layer].layer.name);
    if (found == calibration.mean_squares.end()) continue;
    const double square = found->second, deviation = std::sqrt(square);
    const Fill fill = parameter.name.ends_with(".running_var")
                          ? Fill{FillKind::kUniform, 0.75 * square, 1.25 * square}
                          : Fill{FillKind::kUniform, -0.5 * deviation, 0.5 * deviation};
    std::vector<float>& values = trial.reals[parameter.name];
    values.resize(static_cast<size_t>(ElementCount(parameter.shape)));
    FillTensor(kTrialSeed, parameter.name, fill, 0, values);
  }
}

Status InferGraph(Trial& trial) {
  trial.graph = TENCH_TRY(Infer(
      trial.job.phase == Phase::kForward ? InferenceGraph(trial.job.network) : trial.job.network,
      trial.job.batch));
  return Ok();
}

// Weight gradients and channel statistics are sums over the samples and all positions of an image.
int64_t Terms(const Shape& output) {
  if (output.empty()) return 1;
  return output.size() == 4 ? output[0] * output[2] * output[3] : output[0];
}

Status FillTrial(const Subject& subject, const Calibration& calibration, Trial& trial) {
  Job& job = trial.job;
  switch (trial.kind) {
    case TrialKind::kOps:
      AskForOps(MakeOpProbe(TENCH_TRY(Infer(job.network, job.batch))), trial);
      break;
    case TrialKind::kGradient:
      job.tensors.gradients = true;
      break;
    case TrialKind::kOutputs:
      job.tensors.outputs = {"*"};
      break;
    case TrialKind::kSteady:
      TENCH_TRY(UseConditioned(trial));
      // The cell's optimizer with its own settings; only the rate and the decay are the trial's.
      job.solver = subject.job.solver;
      job.solver.lr = kRate;
      job.solver.weight_decay = Solver{}.weight_decay;
      if (UsesMomentum(job.solver.type)) job.solver.momentum = Solver{}.momentum;
      job.solver.clip_gradients = 0;
      job.solver.iter_size = 1;
      TENCH_TRY(LoadMomenta(trial));
      job.phase = Phase::kTrain;
      job.tensors.outputs = LossInputs(job.network);
      job.tensors.gradients = job.tensors.parameters = job.tensors.state = true;
      break;
    case TrialKind::kTrain:
      TENCH_TRY(UseConditioned(trial));
      ApplyFactors(calibration, job.network);
      job.phase = Phase::kTrain;
      job.budget.fixed_steps = kUpdates;
      job.solver.lr = kSteadyRate;
      job.lr_schedule = {kSteadyRate, kSteadyRate, kSteadyRate / 10};
      job.tensors.parameters = job.tensors.state = true;
      break;
    case TrialKind::kForward:
      TENCH_TRY(UseConditioned(trial));
      job.phase = Phase::kForward;
      job.tensors.outputs = LossInputs(InferenceGraph(job.network));
      break;
    case TrialKind::kDropout:
      AskForDropout(subject.job.network, trial);
      break;
    case TrialKind::kTimed:
      Check(false, "MakeTimedTrial makes the timed trial");
  }
  return Ok();
}

}  // namespace

std::string_view Name(TrialKind kind) {
  switch (kind) {
    case TrialKind::kOps:
      return "ops";
    case TrialKind::kGradient:
      return "gradient";
    case TrialKind::kSteady:
      return "steady";
    case TrialKind::kTrain:
      return "train";
    case TrialKind::kForward:
      return "forward";
    case TrialKind::kOutputs:
      return "outputs";
    case TrialKind::kDropout:
      return "dropout";
    case TrialKind::kTimed:
      break;
  }
  return "timed";
}

std::vector<std::string> LossInputs(const Graph& network) {
  std::vector<std::string> names;
  for (const Layer& layer : network.layers) {
    if (IsLoss(layer.op) && std::find(names.begin(), names.end(), layer.inputs[0]) == names.end())
      names.push_back(layer.inputs[0]);
  }
  return names;
}

Result<Trial> MakeTrial(const Subject& subject, TrialKind kind, const Calibration& calibration) {
  Trial trial;
  trial.kind = kind;
  trial.job = PlainJob(subject);
  TENCH_TRY(FillTrial(subject, calibration, trial));
  TENCH_TRY(InferGraph(trial));
  if (kind == TrialKind::kForward) LoadStatistics(calibration, trial);
  return trial;
}

Result<Trial> MakeTimedTrial(const Subject& subject, const Calibration& calibration, bool observe) {
  Trial trial;
  trial.kind = TrialKind::kTimed;
  Job& job = trial.job = PlainJob(subject);
  const Job& cell = subject.job;
  job.batch = cell.batch;
  job.phase = cell.phase;
  job.solver = cell.solver;
  job.solver.lr = kSteadyRate;
  // With its usual delta an adaptive update is close to the gradient's sign, which rounding decides
  // for small gradients. With 1 it is nearly proportional to the gradient; the kernels are the
  // same.
  if (UsesDelta(job.solver.type)) job.solver.delta = 1;
  TENCH_TRY(UseConditioned(trial));
  if (job.phase == Phase::kTrain) ApplyFactors(calibration, job.network);
  job.budget.fixed_steps = kUpdates;
  job.tensors.observe = observe;
  job.tensors.parameters = job.phase == Phase::kTrain;
  job.tensors.state = job.phase != Phase::kForward;
  job.tensors.gradients = job.phase == Phase::kGradient;
  TENCH_TRY(InferGraph(trial));
  if (job.phase != Phase::kForward) return trial;
  LoadStatistics(calibration, trial);
  job.budget.fixed_steps = kInferences;
  job.cycled = true;
  job.images = kInferences * job.batch;
  // An observing build needs a tensor to observe.
  if (observe) job.tensors.outputs = LossInputs(InferenceGraph(job.network));
  return trial;
}

std::vector<float> Trial::Start(const Parameter& parameter) const {
  if (const auto loaded = reals.find(parameter.name); loaded != reals.end()) return loaded->second;
  std::vector<float> values(static_cast<size_t>(ElementCount(parameter.shape)));
  FillTensor(job.seed, parameter.name, parameter.fill, 0, values, static_cast<int>(job.threads));
  return values;
}

std::vector<WantedTensor> Trial::Wanted() const {
  std::vector<WantedTensor> wanted;
  // The timed trial compares losses only where no tensor can be read from a timed build.
  const bool timed_inference = kind == TrialKind::kTimed && job.phase == Phase::kForward;
  if (timed_inference || kind == TrialKind::kDropout) return wanted;
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
  // The update of kSteady is recomputed instead (update_check.h).
  const bool movements = job.tensors.parameters && kind != TrialKind::kSteady;
  for (const Parameter& parameter : graph.parameters) {
    const int64_t elements = ElementCount(parameter.shape),
                  terms = Terms(graph.layers[parameter.layer].output.shape);
    if (parameter.trained && job.tensors.gradients)
      wanted.push_back({"gradients", parameter.name, group(parameter.layer, "gradients"), elements,
                        terms, nullptr});
    if (parameter.trained && movements)
      wanted.push_back({"parameters", parameter.name, "parameters", elements, terms, &parameter});
    if (!parameter.trained && job.tensors.state)
      wanted.push_back({"state", parameter.name, group(parameter.layer, "state") + " state",
                        elements, terms, &parameter});
  }
  return wanted;
}

}  // namespace tench
