// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/network.h"

#include <algorithm>

#include "net/fill.h"
#include "net/op_traits.h"
#include "workers/reference/buffer_plan.h"
#include "workers/reference/product.h"

namespace tench {
namespace {

constexpr int64_t kJitterGrain = 16 * 1024;

bool IsInput(const TypedLayer& layer) { return std::holds_alternative<Input>(layer.layer.op); }

// The last reader of each layer's output; the layer itself if there is none.
std::vector<size_t> LastReaders(const TypedGraph& graph) {
  std::vector<size_t> last(graph.layers.size());
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    last[i] = i;
    for (const size_t input : graph.layers[i].inputs) last[input] = i;
  }
  return last;
}

}  // namespace

Network::Network(const TypedGraph& graph, const NetworkOptions& options)
    : graph_(graph),
      jitter_(options.jitter),
      jitter_seed_(options.jitter_seed),
      pool_(options.threads),
      tensors_(graph.layers.size()),
      parameters_(graph.parameters.size()),
      gradients_(graph.parameters.size()),
      inputs_(graph.layers.size()),
      output_gradients_(graph.layers.size()) {
  pool_.ReserveScratch(kProductScratch);
  for (size_t i = 0; i < graph_.parameters.size(); ++i) {
    const size_t count = static_cast<size_t>(ElementCount(graph_.parameters[i].shape));
    parameters_[i].resize(count);
    if (options.training && graph_.parameters[i].trained) gradients_[i].resize(count);
  }
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    kernels_.push_back(options.make_kernel({graph_, i, options.training}));
    if (!IsInput(graph_.layers[i])) continue;
    const size_t count = static_cast<size_t>(ElementCount(graph_.layers[i].output.shape));
    if (graph_.layers[i].output.dtype == DType::kF32) {
      inputs_[i].f32.resize(count);
    } else {
      inputs_[i].i32.resize(count);
    }
  }
  PlanActivations(options);
  for (size_t i = 0; i < graph_.layers.size(); ++i) BindLayer(i);
}

// On the step's timeline, layer i runs forward at time i and backward at time 2n - 1 - i.
void Network::PlanActivations(const NetworkOptions& options) {
  const int64_t count = static_cast<int64_t>(graph_.layers.size()), end = 2 * count;
  const std::vector<size_t> last_readers = LastReaders(graph_);
  const std::vector<bool> needs_gradient = NeedsGradient(graph_);
  std::vector<Lifetime> lifetimes(2 * count);  // outputs, then their gradients
  for (int64_t i = 0; i < count; ++i) {
    const TypedLayer& layer = graph_.layers[i];
    if (IsInput(layer)) continue;
    const int64_t elements = ElementCount(layer.output.shape), backward = end - 1 - i;
    const int64_t last_reader = static_cast<int64_t>(last_readers[i]);
    lifetimes[i] = {elements, i, options.observe ? end : options.training ? backward : last_reader};
    // A loss starts the backward pass and has no output gradient.
    if (options.training && needs_gradient[i] && !IsLoss(layer.layer.op)) {
      lifetimes[count + i] = {elements, end - 1 - last_reader, backward};
    }
  }
  const BufferPlan plan = PlanBuffers(lifetimes);
  for (const int64_t size : plan.sizes) buffers_.emplace_back(size);
  for (int64_t i = 0; i < count; ++i) {
    const auto span_of = [&](int64_t tensor) {
      return std::span<float>(buffers_[plan.buffer[tensor]])
          .first(static_cast<size_t>(lifetimes[tensor].elements));
    };
    tensors_[i].output = IsInput(graph_.layers[i]) ? std::span<float>(inputs_[i].f32) : span_of(i);
    if (lifetimes[count + i].elements > 0) output_gradients_[i] = span_of(count + i);
  }
  opens_gradient_of_ = last_readers;
}

void Network::BindLayer(size_t layer) {
  KernelTensors& tensors = tensors_[layer];
  for (const size_t input : graph_.layers[layer].inputs) {
    tensors.inputs.push_back(tensors_[input].output);
    tensors.integers.push_back(inputs_[input].i32);
    tensors.input_gradients.push_back(output_gradients_[input]);
  }
  tensors.output_gradient = output_gradients_[layer];
  for (const size_t parameter : graph_.layers[layer].parameters) {
    tensors.parameters.push_back(parameters_[parameter]);
    tensors.parameter_gradients.push_back(gradients_[parameter]);
  }
}

int64_t Network::bytes() const {
  size_t elements = 0;
  for (const auto* group : {&parameters_, &gradients_, &buffers_}) {
    for (const std::vector<float>& tensor : *group) elements += tensor.size();
  }
  for (const HostTensor& input : inputs_) elements += input.f32.size() + input.i32.size();
  return static_cast<int64_t>(elements * sizeof(float));
}

void Network::SetInput(size_t layer, const HostTensor& tensor) {
  // Copied in place, so that the kernels' views stay valid.
  HostTensor& mine = inputs_[layer];
  Check(tensor.f32.size() == mine.f32.size() && tensor.i32.size() == mine.i32.size(),
        "a batch has another size than its input layer");
  std::copy(tensor.f32.begin(), tensor.f32.end(), mine.f32.begin());
  std::copy(tensor.i32.begin(), tensor.i32.end(), mine.i32.begin());
}

double Network::Forward(const StepContext& step) {
  step_ = step.step;
  double loss = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i] == nullptr) continue;
    kernels_[i]->Forward(tensors_[i], step, pool_);
    if (!IsExact(graph_.layers[i].layer.op)) Jitter(tensors_[i].output, i, 0);
    loss += kernels_[i]->Loss();
  }
  return loss;
}

void Network::Backward() {
  const std::vector<bool> needs_gradient = NeedsGradient(graph_);
  for (size_t i = kernels_.size(); i-- > 0;) {
    if (kernels_[i] == nullptr || !needs_gradient[i]) continue;
    for (const size_t input : graph_.layers[i].inputs) {
      if (opens_gradient_of_[input] == i) std::ranges::fill(output_gradients_[input], 0.0f);
    }
    Jitter(output_gradients_[i], i, 1);
    kernels_[i]->Backward(tensors_[i], pool_);
    for (size_t k = 0; k < tensors_[i].parameter_gradients.size(); ++k)
      Jitter(tensors_[i].parameter_gradients[k], i, 2 + k);
  }
}

void Network::Jitter(std::span<float> values, size_t layer, uint64_t what) {
  if (jitter_ == 0 || values.empty()) return;
  const Generator random(
      (static_cast<uint64_t>(jitter_seed_) << 40) + static_cast<uint64_t>(step_) * 1024 + what,
      graph_.layers[layer].layer.name);
  const double reach = jitter_ * 0x1p-24;
  pool_.Split(static_cast<int64_t>(values.size()), kJitterGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      values[i] = static_cast<float>(
          values[i] * (1 + reach * (2 * random.Uniform(static_cast<uint64_t>(i)) - 1)));
  });
}

}  // namespace tench
