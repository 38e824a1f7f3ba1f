// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update by PyTorch's fused SGD (what torch.optim.SGD(fused=True) calls), with Caffe's meaning (net/solver.h). PyTorch's own formula is
// v = m·v + (1 - dampening)·g; w = w - lr·v. With lr = 1 and dampening = 1 - rate it is Caffe's at every rate, so that a
// change of rate needs nothing. Parameters of equal lr_mult and decay_mult form one group, as in PyTorch's optimizers.

#include <ATen/core/Tensor.h>

#include <vector>

#include "net/graph.h"
#include "net/solver.h"

namespace tench::pytorch {

class Update {
 public:
  // Shares `parameters`, which are by index into TypedGraph::parameters. Without momentum there are buffers only if `observe` is set.
  Update(const TypedGraph& graph, const std::vector<at::Tensor>& parameters, const Solver& solver, bool observe);

  void SetRate(double rate) { solver_.lr = rate; }
  void Clear();   // momenta to zero
  void Apply();   // of the gradients that the parameters hold

  // By index into TypedGraph::parameters; undefined for running statistics and where nothing is kept.
  const std::vector<at::Tensor>& momenta() const { return momenta_; }

 private:
  struct Group {
    double lr_mult = 1, decay_mult = 1;
    std::vector<at::Tensor> parameters, gradients, momenta;
  };
  void GatherGradients(Group& group);
  void Apply(Group& group);

  Solver solver_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> momenta_;
};

}  // namespace tench::pytorch
