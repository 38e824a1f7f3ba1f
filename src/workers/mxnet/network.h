// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network that MXNet has bound under given settings, with its momenta. Queue starts a step and
// returns before it is complete; Loss and every read wait for it. Ownership: references the library
// and the graph, which must outlive it. Used by one thread.

#include <optional>

#include "workers/mxnet/engine.h"
#include "workers/mxnet/executor.h"
#include "workers/mxnet/update.h"

namespace tench::mxnet {

Result<Device> DeviceOf(const std::string& name);

class Network {
 public:
  static Result<std::unique_ptr<Network>> Make(const Library& library, const TypedGraph& graph,
                                               const BuildOptions& options,
                                               const EngineSettings& settings);

  // Queues the forward pass, and the backward pass and update if the phase has them.
  Status Queue();
  Result<double> Loss() const;
  void SetLearningRate(double lr) {
    if (update_) update_->SetLearningRate(lr);
  }

  Status WriteInput(const HostTensor& input);
  Status WriteParameter(size_t parameter, const TensorSource& source);
  Status ReadParameter(size_t parameter, const TensorSink& sink) const;
  Status ReadGradient(size_t parameter, const TensorSink& sink) const;
  bool HasMomentum(size_t parameter) const { return momenta_[parameter].has_value(); }
  void Resume(int64_t updates) {
    if (update_) update_->Resume(updates);
  }
  Status ZeroMomentum(size_t parameter);  // also resets the number of updates
  Status WriteMomentum(size_t parameter, const TensorSource& source);
  Status ReadMomentum(size_t parameter, const TensorSink& sink) const;
  Status ReadOutput(const std::string& layer, const TensorSink& sink) const;

  Result<int64_t> Bytes() const;
  const Executor& executor() const { return *executor_; }

 private:
  Network(const Library& library, const TypedGraph& graph, Phase phase)
      : library_(library), graph_(graph), phase_(phase), maker_(library) {}
  Status MakeUpdate(const BuildOptions& options, const EngineSettings& settings, Device device);
  Result<Array> View(const Array& whole, size_t parameter) const;

  const Library& library_;
  const TypedGraph& graph_;
  const Phase phase_;
  SymbolMaker maker_;
  Lowered lowered_;
  std::unique_ptr<Executor> executor_;
  std::vector<Array> values_, gradients_;  // by parameter
  // By parameter: a second handle of the array that the update writes.
  std::vector<std::optional<Array>> momenta_;
  std::vector<std::optional<Array>> momenta2_;  // Adam's
  double momentum_sign_ = 1;
  std::optional<Update> update_;
};

}  // namespace tench::mxnet
