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

namespace tench {

struct BuildOptions {
  std::string device = "cpu";
  int64_t threads = 1;
  std::string precision = "f32";
  Phase phase = Phase::kTrain;  // the phase of every Step
  Solver solver;
  uint64_t seed = 1;     // of dropout masks
  bool dropout = true;   // false: the identity, also in training
  bool observe = false;  // Outputs, Gradients and State will be read; fusion may be off
  bool tuned = false;
  std::map<std::string, std::string> options;
  bool profile = false;  // Profile will be read: time every kernel
};

struct BuildFacts {
  int64_t planned_bytes = 0;
  std::map<std::string, std::string> choices;
};

// serve writes the named tensor to `out`, or reads it from `values`, in the logical (NCHW) order.
using TensorSource = std::function<Status(const std::string& name, std::span<float> out)>;
using TensorSink = std::function<Status(const std::string& name, std::span<const float> values)>;
// The batch of a step, valid until the next call.
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
  // Running statistics by their parameter name, momenta as "NAME.momentum", Adam's second ones as
  // "NAME.momentum2".
  virtual Status SetState(const TensorSource& source) = 0;
  virtual Status State(const TensorSink& sink) = 0;

  // One HostTensor per Input layer. Called once when input is fixed, before every step when it is
  // cycled.
  virtual Status SetBatch(std::span<const HostTensor> inputs) = 0;
  // Cycled input, before the first step: for a framework that reads all data from files of its own.
  // The concatenated samples of the batches repeat after `samples`. SetBatch is called as well.
  virtual Status SetCycle(int64_t samples, const BatchSource& batch) {
    (void)samples, (void)batch;
    return Ok();
  }
  virtual Status SetLearningRate(double lr) = 0;

  // Returns only when all of the step's work is complete, with the loss over the batch (weighted
  // sum of the losses).
  virtual Result<double> Step(Phase phase) = 0;

  // Of the last step, in an observing build.
  virtual Status Gradients(const TensorSink& sink) = 0;
  virtual Status Outputs(std::span<const std::string> layers, const TensorSink& sink) = 0;

  // A child process that computes: its memory and CPU time are added to the worker's. 0 = none.
  virtual pid_t Helper() const { return 0; }

  virtual Result<std::vector<ProfileRow>> Profile() {
    return Unsupported("this worker has no profile");
  }
};

}  // namespace tench
