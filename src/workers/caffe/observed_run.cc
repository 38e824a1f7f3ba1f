// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/observed_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "workers/caffe/hdf5_file.h"
#include "workers/caffe/solver_state.h"
#include "workers/caffe/weights.h"

namespace tench::caffe_worker {
namespace {

constexpr const char* kMomentumSuffix = ".momentum";

// One update with this solver stores the plain gradients in the solver's history.
Solver GradientSolver() {
  Solver solver;
  solver.lr = 1;
  solver.momentum = solver.weight_decay = 0;
  return solver;
}

std::string ModelFile(const std::string& prefix) { return prefix + "_iter_1.caffemodel"; }
std::string StateFile(const std::string& prefix) { return prefix + "_iter_1.solverstate"; }

}  // namespace

NetForm ObservedRun::Form() const {
  NetForm form;
  form.dropout = options_.dropout;
  form.apart = true;
  return form;
}

Status ObservedRun::SetMomenta(const TensorSource& source) {
  const NetText net = TENCH_TRY(WriteNet(*graph_, kDataList, Form()));
  const std::string file = Fresh("momenta");
  bool any = false;
  const SlotSource momentum = [&](const Parameter& parameter, std::span<float> out) -> Status {
    TENCH_TRY(source(parameter.name + kMomentumSuffix, out));
    any |= std::any_of(out.begin(), out.end(), [](float value) { return value != 0; });
    return Ok();
  };
  TENCH_TRY(WriteSolverState(workshop_->Path(file), before_.weights, *graph_, net.slots, momentum));
  // Without momenta, Caffe starts from the weights alone.
  before_.momenta = after_.momenta = any ? file : "";
  return Ok();
}

// A gradient step changes only the running statistics, so parameters and statistics may be in
// different files.
Result<std::string> ObservedRun::JoinedWeights() {
  if (before_.weights == before_.statistics) return before_.weights;
  std::map<std::string, std::vector<float>> statistics;
  TENCH_TRY(ReadWeights(workshop_->Path(before_.statistics), *graph_, false,
                        [&](const std::string& name, std::span<const float> values) -> Status {
                          statistics[name].assign(values.begin(), values.end());
                          return Ok();
                        }));
  const std::string joined = Fresh("joined") + ".caffemodel";
  TENCH_TRY(ReplaceStatistics(workshop_->Path(joined), workshop_->Path(before_.weights), *graph_,
                              [&](const std::string& name, std::span<float> out) -> Status {
                                std::ranges::copy(statistics.at(name), out.begin());
                                return Ok();
                              }));
  before_.weights = before_.statistics = joined;
  return joined;
}

// The state before the step. It refers to its weights file by name, which may have changed.
Result<std::string> ObservedRun::ResumeState(const NetText& net, const std::string& weights) {
  std::map<std::string, std::vector<float>> momenta;
  const SlotSink gather = [&](const Parameter& parameter, std::span<const float> from) -> Status {
    momenta[parameter.name].assign(from.begin(), from.end());
    return Ok();
  };
  TENCH_TRY(ReadSolverState(workshop_->Path(before_.momenta), *graph_, net.slots, gather));
  const std::string file = Fresh("resume");
  const SlotSource give = [&](const Parameter& parameter, std::span<float> out) -> Status {
    std::ranges::copy(momenta.at(parameter.name), out.begin());
    return Ok();
  };
  TENCH_TRY(WriteSolverState(workshop_->Path(file), weights, *graph_, net.slots, give));
  return file;
}

Result<NetText> ObservedRun::Run(const NetForm& form, const Solver& solver,
                                 const std::string& prefix) {
  NetText net = TENCH_TRY(workshop_->PutNet(*graph_, form));
  const std::string weights = TENCH_TRY(JoinedWeights());
  std::vector<std::string> arguments;
  std::string resume;
  if (options_.phase == Phase::kForward) {
    arguments = {"test", fmt::format("--model={}", kNetFile), "--weights=" + weights,
                 "--iterations=1"};
  } else {
    // Displays only the first iteration: after an even last iteration Caffe would run one more
    // forward pass.
    TENCH_TRY(workshop_->PutSolver(
        {solver, options_.seed + static_cast<uint64_t>(steps_), 1, 2, prefix}));
    arguments = {"train", fmt::format("--solver={}", kSolverFile)};
    if (solver.momentum > 0 && !before_.momenta.empty())
      resume = TENCH_TRY(ResumeState(net, weights));
    arguments.push_back(resume.empty() ? "--weights=" + weights : "--snapshot=" + resume);
  }
  CaffeProcess process = TENCH_TRY(workshop_->Start(std::move(arguments)));
  TENCH_TRY(process.Finish());
  Tidy({resume});
  return net;
}

Result<double> ObservedRun::LossOf(const NetText& net) const {
  double loss = 0;
  for (const auto& [layer, factor] : net.factors) {
    float value = 0;
    TENCH_TRY(ReadNumbers(workshop_->Path(net.files.at(layer)), "data", {&value, 1}));
    loss += factor * double{value};
  }
  return loss;
}

void ObservedRun::Tidy(const std::vector<std::string>& files) const {
  for (const std::string& file : files) {
    const auto known = [&](const Moment& moment) {
      const std::vector<std::string> needed = moment.Files();
      return std::find(needed.begin(), needed.end(), file) != needed.end();
    };
    std::error_code ignored;
    if (!file.empty() && file != gradients_ && !known(before_) && !known(after_))
      std::filesystem::remove(workshop_->Path(file), ignored);
  }
}

Result<double> ObservedRun::Step(double lr) {
  std::vector<std::string> old = before_.Files();
  old.push_back(std::exchange(gradients_, ""));
  before_ = after_;
  Tidy(old);
  ++steps_;
  NetForm form = Form();
  form.equal_rates = options_.phase == Phase::kGradient;
  Solver solver = options_.solver;
  solver.lr = lr;
  if (options_.phase == Phase::kGradient) solver = GradientSolver();
  const std::string prefix = Fresh("step");
  const NetText net = TENCH_TRY(Run(form, solver, prefix));
  const double loss = TENCH_TRY(LossOf(net));
  if (options_.phase == Phase::kForward) return loss;
  after_.statistics = ModelFile(prefix);
  if (options_.phase == Phase::kTrain) {
    after_.weights = ModelFile(prefix);
    after_.momenta = StateFile(prefix);
  } else {
    gradients_ = StateFile(prefix);
  }
  return loss;
}

Status ObservedRun::Parameters(const TensorSink& sink) const {
  return ReadWeights(workshop_->Path(after_.weights), *graph_, true, sink);
}

Status ObservedRun::State(const TensorSink& sink) const {
  TENCH_TRY(ReadWeights(workshop_->Path(after_.statistics), *graph_, false, sink));
  if (options_.phase != Phase::kTrain) return Ok();
  const NetText net = TENCH_TRY(WriteNet(*graph_, kDataList, Form()));
  const SlotSink momentum = [&](const Parameter& parameter, std::span<const float> values) {
    return sink(parameter.name + kMomentumSuffix, values);
  };
  if (!after_.momenta.empty())
    return ReadSolverState(workshop_->Path(after_.momenta), *graph_, net.slots, momentum);
  for (const Parameter& parameter : graph_->parameters) {
    if (parameter.trained)
      TENCH_TRY(momentum(parameter,
                         std::vector<float>(static_cast<size_t>(ElementCount(parameter.shape)))));
  }
  return Ok();
}

Status ObservedRun::Gradients(const TensorSink& sink) {
  NetForm form = Form();
  form.equal_rates = true;
  const NetText net = TENCH_TRY(WriteNet(*graph_, kDataList, form));
  if (gradients_.empty()) {
    const std::string prefix = Fresh("gradients");
    TENCH_TRY(Run(form, GradientSolver(), prefix));
    gradients_ = StateFile(prefix);
    Tidy({ModelFile(prefix)});
  }
  return ReadSolverState(workshop_->Path(gradients_), *graph_, net.slots,
                         [&](const Parameter& parameter, std::span<const float> values) {
                           return sink(parameter.name, values);
                         });
}

Status ObservedRun::Outputs(std::span<const std::string> layers, const TensorSink& sink) {
  NetForm form = Form();
  form.equal_rates = true;
  form.outputs.assign(layers.begin(), layers.end());
  const std::string prefix = Fresh("outputs");
  const NetText net = TENCH_TRY(Run(form, GradientSolver(), prefix));
  Tidy({ModelFile(prefix), StateFile(prefix)});
  std::vector<float> values;
  for (const TypedLayer& layer : graph_->layers) {
    const std::string& name = layer.layer.name;
    if (std::find(layers.begin(), layers.end(), name) == layers.end()) continue;
    values.resize(static_cast<size_t>(ElementCount(layer.output.shape)));
    TENCH_TRY(ReadNumbers(workshop_->Path(net.files.at(name)), "data", values));
    const auto factor = net.factors.find(name);
    if (factor != net.factors.end())
      values[0] = static_cast<float>(factor->second * double{values[0]});
    TENCH_TRY(sink(name, values));
  }
  return Ok();
}

}  // namespace tench::caffe_worker
