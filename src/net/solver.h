// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update, as Caffe defines it: v = momentum·v + lr·lr_mult·(g + weight_decay·decay_mult·w); w = w - v. The learning rate is inside
// the momentum, so that a change of rate does not rescale what was learnt before it.

namespace tench {

struct Solver {
  double lr = 0.01;
  double momentum = 0.9;
  double weight_decay = 0.0005;
};

}  // namespace tench
