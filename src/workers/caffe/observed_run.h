// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps of an observing build: one `caffe` process per step, from files to files. Nothing is
// timed, and every number is exact:
//
// - weights and statistics: the input .caffemodel and the output snapshot;
// - momenta: the .solverstate;
// - losses and outputs: HDF5Output layers, in f32 (the log has six digits only);
// - gradients: the .solverstate after one update at rate 1 without momentum and decay, bit for bit.
//
// Outputs, and the gradients of a train step, come from a repetition of the step from the state
// before it: same weights, same batch, same seed.

#include <string>

#include "worker/adapter.h"
#include "workers/caffe/workshop.h"

namespace tench::caffe_worker {

class ObservedRun {
 public:
  ObservedRun(const Workshop& workshop, const TypedGraph& graph, const BuildOptions& options)
      : workshop_(&workshop), graph_(&graph), options_(options) {}

  // `weights` is the initial .caffemodel, in the workshop's folder.
  void Begin(const std::string& weights) { before_ = after_ = {weights, weights, ""}; }
  // Sets the initial momenta.
  Status SetMomenta(const TensorSource& source);

  Result<double> Step(double lr);

  Status Parameters(const TensorSink& sink) const;
  Status State(const TensorSink& sink) const;
  Status Gradients(const TensorSink& sink);
  Status Outputs(std::span<const std::string> layers, const TensorSink& sink);

 private:
  // The files of one state of the training.
  struct Moment {
    std::string weights;     // trained parameters
    std::string statistics;  // running statistics
    std::string momenta;     // .solverstate; "" = zeros
    std::vector<std::string> Files() const { return {weights, statistics, momenta}; }
  };

  NetForm Form() const;
  std::string Fresh(std::string_view kind) { return fmt::format("{}{}", kind, ++files_); }
  // Removes files that no kept state needs, because a large network's files are gigabytes.
  void Tidy(const std::vector<std::string>& files) const;
  // Runs one step from `before_`; its files have the prefix. Forward writes no file.
  Result<NetText> Run(const NetForm& form, const Solver& solver, const std::string& prefix);
  Result<std::string> JoinedWeights();
  Result<std::string> ResumeState(const NetText& net, const std::string& weights);
  Result<double> LossOf(const NetText& net) const;

  const Workshop* workshop_;
  const TypedGraph* graph_;
  BuildOptions options_;
  Moment before_, after_;
  std::string gradients_;  // .solverstate with the last step's gradients, if computed
  int64_t steps_ = 0, files_ = 0;
};

}  // namespace tench::caffe_worker
