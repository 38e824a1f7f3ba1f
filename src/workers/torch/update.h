// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of net/solver.h (Caffe's) by PyTorch's fused optimizers, which
// torch.optim.SGD(fused=True) and Adam(fused=True) call:
//
// - SGD: PyTorch computes v = m·v + (1 - dampening)·g; w = w - lr·v. With lr = 1 and
//   dampening = 1 - rate it is Caffe's, at every rate and after every change of it.
// - Nesterov: PyTorch steps by g + m·v. With lr = 1, and gradient and decay times the rate, it is
//   Caffe's.
// - Adam: PyTorch adds eps to √(s / c), Caffe delta to √s, with c the bias correction of s. With
//   eps = delta / √c they are equal.
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
  void Apply();  // one update by the parameters' gradients

  // By index into TypedGraph::parameters; undefined for running statistics and where nothing is
  // kept.
  const std::vector<at::Tensor>& momenta() const { return momenta_; }
  const std::vector<at::Tensor>& momenta2() const { return momenta2_; }  // Adam's

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

  Solver solver_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> momenta_, momenta2_;
  int64_t updates_ = 0;
};

}  // namespace tench::pytorch
