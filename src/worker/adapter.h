// SPDX-License-Identifier: Apache-2.0
#pragma once
// The adapter contract: the one interface that every C++ worker implements. An adapter builds the
// framework's own graph as the framework's documentation recommends, and never re-implements an op
// that the framework has. Not aware of messages, the timed loop, files or signals: worker/serve
// does those.
//
// Invariants: the order of calls is Describe, Build, SetParameters, SetBatch, Step… An adapter may
// throw; serve catches. Expected refusals are errors of kind kUnsupported ("layer 'norm1': no lrn
// in this version") or kOutOfMemory. Ownership: serve owns the adapter. Thread safety: one thread
// calls it.

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"
#include "net/solver.h"
#include "protocol/message.h"
#include "protocol/missing_fact.h"
#include "record/phase.h"
#include "record/trace_event.h"

namespace tench {

struct BuildOptions : BuildSettings {
  bool observe = false;  // Outputs, Gradients and State will be read; fusion may be off
};

struct BuildFacts {
  int64_t planned_bytes = 0;
  std::map<std::string, std::string> choices = {};
  // Phase gradient: every step writes the gradient of every trained parameter to memory. No op is
  // pruned, fused or skipped because its result has no reader.
  bool gradients_materialized = false;
  // Options that repeat this build without its search; empty if nothing was searched.
  std::map<std::string, std::string> frozen = {};
};

// serve writes the named tensor to `out`, or reads it from `values`, in the logical (NCHW) order.
using TensorSource = std::function<Status(const std::string& name, std::span<float> out)>;
using TensorSink = std::function<Status(const std::string& name, std::span<const float> values)>;
// Returns the batch of a step, valid until the next call.
using BatchSource = std::function<std::span<const HostTensor>(int64_t step)>;

class Adapter {
 public:
  virtual ~Adapter() = default;

  virtual Description Describe() = 0;

  // `graph` is already reduced for the forward phase (InferenceGraph). All one-time work belongs
  // here: build time is measured separately.
  virtual Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) = 0;

  // Calls `source` once for every trained parameter. Resets the momenta and Adam's step count to 0.
  virtual Status SetParameters(const TensorSource& source) = 0;
  virtual Status Parameters(const TensorSink& sink) = 0;
  // Running statistics by their parameter name, momenta as "NAME.momentum", the second history
  // of Adam and AdaDelta as "NAME.momentum2".
  virtual Status SetState(const TensorSource& source) = 0;
  virtual Status State(const TensorSink& sink) = 0;

  // One HostTensor per Input layer. Called once for fixed input, before every step for cycled
  // input.
  virtual Status SetBatch(std::span<const HostTensor> inputs) = 0;
  // Called before the first step of cycled input, for a framework that reads all data from files.
  // The concatenated samples of the batches repeat after `samples`. SetBatch is called as well.
  virtual Status SetCycle(int64_t samples, const BatchSource& batch) {
    (void)samples, (void)batch;
    return Ok();
  }
  virtual Status SetLearningRate(double lr) = 0;

  // Continues a training after `steps` updates, whose parameters and state are set: the step counts
  // of Adam and of the dropout masks go on.
  virtual Status Resume(int64_t steps) {
    (void)steps;
    return Unsupported("this worker cannot continue a training");
  }

  // In phase train with Solver::iter_size > 1, called once for each of a step's batches; the last
  // call updates the parameters.
  // Returns the loss over the batch (weighted sum of the losses) when all of the step's work is
  // complete.
  virtual Result<double> Step(Phase phase) = 0;

  // The tensors of the last step, in an observing build; gradients in any build of phase gradient.
  virtual Status Gradients(const TensorSink& sink) = 0;
  virtual Status Outputs(std::span<const std::string> layers, const TensorSink& sink) = 0;

  // Whether nothing is computed between two calls of Step, so that a job may pause there
  // (Job::turns).
  virtual bool Pauses() const { return true; }
  // The id of a child process that computes, whose memory and CPU time count as the worker's. 0 =
  // none.
  virtual pid_t Helper() const { return 0; }
  // The time of the last step by a more precise clock than the duration of the call: that of a
  // helper whose steps are read from its log. nullopt = the duration of the call.
  virtual std::optional<int64_t> LastStepNs() const { return std::nullopt; }

  // Forgets the kernels of the steps so far. Called after the warm-up, so that a profile is of the
  // timed steps.
  virtual void RestartProfile() {}
  virtual Result<std::vector<ProfileRow>> Profile() {
    return Unsupported("this worker has no profile");
  }
  // Called after Profile: the intervals of the kernels since RestartProfile, for at least
  // BuildOptions::traced_steps steps. Times are of NowNs (base/clock.h).
  virtual Result<std::vector<TraceEvent>> Trace() {
    return Unsupported("this worker has no trace of its kernels");
  }
};

}  // namespace tench
