// SPDX-License-Identifier: Apache-2.0
#pragma once
// An optimizer with an injected fault, for a worker that computes gradients only: the learning
// rate outside of the momentum (v = m·v + g, w -= lr·v), or an LSTM whose gates have two trained
// biases each. It owns the momenta; the adapter owns the weights.

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
  // Independently trained values; a tensor of the network is the sum of one or two of them.
  struct Part {
    std::vector<float> values, momenta;
  };
  void Move(const Parameter& parameter, std::span<const float> gradient, Part& part) const;

  const Mistake mistake_;
  const TypedGraph& graph_;
  Solver solver_;
  std::map<std::string, std::vector<Part>> parts_;  // by parameter; created by the first update
};

}  // namespace tench
