// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of net/solver.h (Caffe's) by the fused optimizers that torch.optim.SGD, Adam and
// Adagrad call with fused=True, and by the operators that RMSprop and Adadelta call with
// foreach=True:
//
// - SGD: PyTorch computes v = m·v + (1 - dampening)·g; w = w - lr·v. With lr = 1 and
//   dampening = 1 - rate it is Caffe's, at every rate and after every change of it.
// - Nesterov: PyTorch steps by g + m·v. With lr = 1, and gradient and decay times the rate, it is
//   Caffe's.
// - Adam: PyTorch adds eps to √(s / c), Caffe delta to √s, with c the bias correction of s. With
//   eps = delta / √c they are equal.
// - Adagrad, RMSprop (without momentum, not centered) and Adadelta have Caffe's formulas.
//
// L1 regularization, which PyTorch's optimizers lack, is added to the gradients before them. With
// iter_size > 1, autograd sums the gradients of a step's batches.
//
// Parameters of equal lr_mult and decay_mult form one group, as in PyTorch's optimizers. Ownership:
// shares the parameters, owns the momenta. Used by one thread.

#include <ATen/core/Tensor.h>

#include <vector>

#include "net/graph.h"
#include "net/solver.h"

namespace tench::pytorch {

class Update {
 public:
  // Shares `parameters`, which are by index into TypedGraph::parameters. Without momentum there are
  // buffers only if `observe` is set.
  Update(const TypedGraph& graph, const std::vector<at::Tensor>& parameters, const Solver& solver,
         bool observe);

  void SetRate(double rate) { solver_.lr = rate; }
  void Clear();  // sets the momenta and the step count to zero
  void Resume(int64_t updates) { updates_ = updates; }
  // Whether the next batch is the first of its step, so that old gradients must be cleared.
  bool StartsStep() const { return batches_ == 0; }
  // Call after each batch. The last batch of a step makes one update by the parameters' gradients.
  void Apply();

  // By index into TypedGraph::parameters; undefined for running statistics and where nothing is
  // kept.
  const std::vector<at::Tensor>& momenta() const { return momenta_; }
  const std::vector<at::Tensor>& momenta2() const { return momenta2_; }

 private:
  struct Group {
    double lr_mult = 1, decay_mult = 1;
    std::vector<at::Tensor> parameters, gradients, momenta, momenta2;
  };
  void GatherGradients(Group& group);
  void ClipGradients();
  void Apply(Group& group);
  void ApplySgd(Group& group, double rate, double decay);
  void ApplyAdam(Group& group, double rate, double decay);
  void ApplyAdagrad(Group& group, double rate, double decay);
  void ApplyRmsprop(Group& group, double rate);
  void ApplyAdadelta(Group& group, double rate);

  Solver solver_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> momenta_, momenta2_;
  int64_t updates_ = 0, batches_ = 0;  // batches_: of the current step
};

}  // namespace tench::pytorch
