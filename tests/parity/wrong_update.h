// SPDX-License-Identifier: Apache-2.0
#pragma once
// An optimizer of its own for a worker that only computes gradients, with a known mistake: the
// learning rate outside of the momentum (v = m·v + g, w -= lr·v), or an LSTM whose gates have two
// trained biases each. Momenta are its own; weights stay the adapter's.

#include <map>
#include <string>
#include <vector>

#include "worker/adapter.h"

namespace tench {

class WrongUpdate {
 public:
  enum class Mistake { kOuterRate, kTwoBiases };

  WrongUpdate(Mistake mistake, const TypedGraph& graph, const Solver& solver);

  void SetLearningRate(double lr) { solver_.lr = lr; }
  // One update of `adapter`'s parameters by the gradients of its last step.
  Status Apply(Adapter& adapter);
  Status Momenta(const TensorSink& sink) const;

 private:
  // Numbers that are trained for themselves; a tensor of the network is the sum of one or two of
  // them.
  struct Part {
    std::vector<float> values, momenta;
  };
  void Move(const Parameter& parameter, std::span<const float> gradient, Part& part) const;

  const Mistake mistake_;
  const TypedGraph& graph_;
  Solver solver_;
  std::map<std::string, std::vector<Part>> parts_;  // by parameter; made at the first update
};

}  // namespace tench
