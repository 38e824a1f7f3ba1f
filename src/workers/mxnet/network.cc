// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/network.h"

#include <algorithm>
#include <utility>

#include "axis/device_name.h"

namespace tench::mxnet {
namespace {

size_t SizeOf(const Parameter& parameter) {
  return static_cast<size_t>(ElementCount(parameter.shape));
}

void Multiply(std::vector<float>& values, double factor) {
  if (factor == 1) return;
  for (float& value : values) value = static_cast<float>(value * factor);
}

Status Give(const Array& array, const std::string& name, size_t size, double factor,
            const TensorSink& sink) {
  std::vector<float> values(size);
  TENCH_TRY(array.Read(values));
  Multiply(values, factor);
  return sink(name, values);
}

Status Take(Array& array, const std::string& name, size_t size, double factor,
            const TensorSource& source) {
  std::vector<float> values(size);
  TENCH_TRY(source(name, values));
  Multiply(values, factor);
  return array.Write(values);
}

std::string MomentumName(const Parameter& parameter) { return parameter.name + ".momentum"; }
std::string Momentum2Name(const Parameter& parameter) { return parameter.name + ".momentum2"; }

}  // namespace

Result<Device> DeviceOf(const std::string& name) {
  const DeviceName device = TENCH_TRY(ParseDevice(name).In("device"));
  constexpr int kCpu = 1, kGpu = 2;  // device types of MXNet
  return Device{device.is_gpu() ? kGpu : kCpu, static_cast<int>(device.index)};
}

Result<std::unique_ptr<Network>> Network::Make(const Library& library, const TypedGraph& graph,
                                               const BuildOptions& options,
                                               const EngineSettings& settings) {
  ApplySettings(settings);
  std::unique_ptr<Network> network(new Network(library, graph, options.phase));
  network->lowered_ = TENCH_TRY(Lowering(graph, options, network->maker_).Run());
  const bool gradients = options.phase != Phase::kForward;
  const Device device = TENCH_TRY(DeviceOf(options.device));
  network->executor_ =
      TENCH_TRY(Executor::Bind(library, network->maker_, network->lowered_, gradients, device));
  network->values_.resize(graph.parameters.size());
  network->gradients_.resize(graph.parameters.size());
  network->momenta_.resize(graph.parameters.size());
  network->momenta2_.resize(graph.parameters.size());
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    Executor& executor = *network->executor_;
    const std::string& variable = network->lowered_.parameters[i].variable;
    network->values_[i] = TENCH_TRY(network->View(executor.variable(variable), i));
    if (gradients && graph.parameters[i].trained)
      network->gradients_[i] = TENCH_TRY(network->View(executor.gradient(variable), i));
  }
  if (options.phase == Phase::kTrain) TENCH_TRY(network->MakeUpdate(options, settings, device));
  return network;
}

// A full-size slice is a separate handle to the same memory.
Result<Array> Network::View(const Array& whole, size_t parameter) const {
  const ParameterPlace& place = lowered_.parameters[parameter];
  const Parameter& described = graph_.parameters[parameter];
  if (place.part) return whole.Slice(place.offset, place.offset + ElementCount(described.shape));
  return whole.Slice(0, described.shape[0]);
}

Status Network::MakeUpdate(const BuildOptions& options, const EngineSettings& settings,
                           Device device) {
  std::vector<Update::Item> items;
  for (size_t i = 0; i < graph_.parameters.size(); ++i) {
    const Parameter& parameter = graph_.parameters[i];
    if (!parameter.trained) continue;
    const ParameterPlace& place = lowered_.parameters[i];
    const Shape shape = place.part ? Shape{ElementCount(parameter.shape)} : parameter.shape;
    Array momentum = TENCH_TRY(Array::Create(library_, shape, device));
    momenta_[i] = TENCH_TRY(momentum.Slice(0, shape[0]));
    Update::Item item;
    if (Update::HasSecondArray(options.solver.type)) {
      item.momentum2 = TENCH_TRY(Array::Create(library_, shape, device));
      momenta2_[i] = TENCH_TRY(item.momentum2.Slice(0, shape[0]));
    }
    TENCH_TRY(ZeroMomentum(i));
    // Both arrays are zero now; only the history is visible from here on.
    if (options.solver.type == SolverType::kRmsprop)
      momenta_[i] = std::exchange(momenta2_[i], std::nullopt);
    item.weight = TENCH_TRY(View(executor_->variable(place.variable), i));
    item.gradient = TENCH_TRY(View(executor_->gradient(place.variable), i));
    item.momentum = std::move(momentum);
    item.lr_mult = parameter.lr_mult;
    item.weight_decay = options.solver.weight_decay * parameter.decay_mult;
    items.push_back(std::move(item));
  }
  update_ = TENCH_TRY(Update::Make(library_, std::move(items), options.solver, settings.aggregate));
  momentum_sign_ = Update::MomentumSign(options.solver);
  update_->SetLearningRate(options.solver.lr);
  return Ok();
}

Status Network::Queue() {
  TENCH_TRY(executor_->Forward(phase_ != Phase::kForward));
  if (phase_ != Phase::kForward) TENCH_TRY(executor_->Backward());
  return update_ ? update_->Apply() : Ok();
}

Result<double> Network::Loss() const {
  double loss = 0;
  for (size_t i = 0; i < lowered_.losses.size(); ++i) {
    float part = 0;
    TENCH_TRY(executor_->output(i).Read({&part, 1}));
    loss += part;
  }
  return loss;
}

Status Network::WriteInput(const HostTensor& input) {
  Array& array = executor_->variable(input.name);
  if (input.type.dtype == DType::kF32) return array.Write(input.f32);
  // Labels, tokens and lengths are f32 in MXNet, as in its own examples; they are far below 2^24.
  return array.Write(std::vector<float>(input.i32.begin(), input.i32.end()));
}

Status Network::WriteParameter(size_t i, const TensorSource& source) {
  return Take(values_[i], graph_.parameters[i].name, SizeOf(graph_.parameters[i]),
              1 / lowered_.parameters[i].scale, source);
}

Status Network::ReadParameter(size_t i, const TensorSink& sink) const {
  return Give(values_[i], graph_.parameters[i].name, SizeOf(graph_.parameters[i]),
              lowered_.parameters[i].scale, sink);
}

Status Network::ReadGradient(size_t i, const TensorSink& sink) const {
  if (!gradients_[i])
    return Failed("gradient of '{}' was not computed in this phase", graph_.parameters[i].name);
  return Give(gradients_[i], graph_.parameters[i].name, SizeOf(graph_.parameters[i]), 1, sink);
}

Status Network::ZeroMomentum(size_t i) {
  if (update_) update_->Reset();
  const std::vector<float> zeros(SizeOf(graph_.parameters[i]));
  if (momenta2_[i]) TENCH_TRY(momenta2_[i]->Write(zeros));
  return momenta_[i]->Write(zeros);
}

Status Network::WriteMomentum(size_t i, const TensorSource& source) {
  const Parameter& parameter = graph_.parameters[i];
  TENCH_TRY(Take(*momenta_[i], MomentumName(parameter), SizeOf(parameter), momentum_sign_, source));
  return momenta2_[i] ? Take(*momenta2_[i], Momentum2Name(parameter), SizeOf(parameter), 1, source)
                      : Ok();
}

Status Network::ReadMomentum(size_t i, const TensorSink& sink) const {
  const Parameter& parameter = graph_.parameters[i];
  TENCH_TRY(Give(*momenta_[i], MomentumName(parameter), SizeOf(parameter), momentum_sign_, sink));
  return momenta2_[i] ? Give(*momenta2_[i], Momentum2Name(parameter), SizeOf(parameter), 1, sink)
                      : Ok();
}

Status Network::ReadOutput(const std::string& layer, const TensorSink& sink) const {
  const auto typed = std::ranges::find_if(
      graph_.layers, [&](const TypedLayer& each) { return each.layer.name == layer; });
  if (typed == graph_.layers.end() || typed->output.dtype != DType::kF32)
    return Failed("layer '{}' has no output of numbers", layer);
  const size_t size = static_cast<size_t>(ElementCount(typed->output.shape));
  if (std::holds_alternative<Input>(typed->layer.op))
    return Give(executor_->variable(layer), layer, size, 1, sink);
  const auto found = lowered_.observed.find(layer);
  if (found == lowered_.observed.end()) return Failed("layer '{}' was not observed", layer);
  return Give(executor_->output(found->second), layer, size, 1, sink);
}

Result<int64_t> Network::Bytes() const {
  int64_t bytes = TENCH_TRY(executor_->Bytes());
  for (size_t i = 0; i < momenta_.size(); ++i) {
    const int64_t kept = (momenta_[i] ? 1 : 0) + (momenta2_[i] ? 1 : 0);
    bytes += kept * static_cast<int64_t>(SizeOf(graph_.parameters[i]) * sizeof(float));
  }
  return bytes;
}

}  // namespace tench::mxnet
