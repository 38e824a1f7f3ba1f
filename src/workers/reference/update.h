// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of net/solver.h: each element in double, rounded once. Owns the momenta. Not aware of
// files or of the protocol.

#include <functional>
#include <string>
#include <vector>

#include "net/solver.h"
#include "workers/reference/network.h"

namespace tench {

class Update {
 public:
  Update(Network& network, const Solver& solver);

  void SetLearningRate(double lr) { solver_.lr = lr; }
  // Sets the momenta and the number of updates to zero.
  void Reset();
  // Adam's step count goes on after `updates` updates.
  void Resume(int64_t updates) { updates_ = updates; }
  // Call after the backward pass of each batch; the last batch of a step updates the parameters.
  void Run();

  // Visits every momentum of the parameter by name; none for running statistics.
  Status ForEachState(
      size_t parameter,
      const std::function<Status(const std::string& name, std::vector<float>&)>& visit);
  int64_t bytes() const;

 private:
  // Whether the step needs more batches.
  bool Accumulate();
  const std::vector<float>& Gradient(size_t parameter) const;
  double ClipScale() const;
  template <class Rule>
  void Apply(size_t parameter, double clip, const Rule& rule);

  Network& network_;
  Solver solver_;
  int64_t updates_ = 0, batches_ = 0;      // batches_: of the current step
  std::vector<std::vector<double>> sums_;  // of gradients, by parameter; empty without iter_size
  std::vector<std::vector<float>> sums_f32_;
  // By parameter; empty for running statistics. momenta2_ is empty unless the solver has a second
  // history.
  std::vector<std::vector<float>> momenta_, momenta2_;
};

}  // namespace tench
