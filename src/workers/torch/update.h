// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update by PyTorch's fused optimizers (what torch.optim.SGD(fused=True) and Adam(fused=True)
// call), with Caffe's meaning (net/solver.h). PyTorch's own SGD is v = m·v + (1 - dampening)·g; w =
// w - lr·v. With lr = 1 and dampening = 1 - rate it is Caffe's at every rate, so that a change of
// rate needs nothing. Its Nesterov steps by g + m·v: with lr = 1 and gradients and decay already
// times the rate it is Caffe's. Its Adam adds eps to √(s / c) where Caffe adds delta to √s, c being
// the correction of s: with eps = delta / √c the two are one. Parameters of equal lr_mult and
// decay_mult form one group, as in PyTorch's optimizers.

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
  void Clear();  // momenta to zero, no update made yet
  void Apply();  // of the gradients that the parameters hold

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
