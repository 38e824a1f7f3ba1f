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
  // Momenta at zero, and no update made yet.
  void Reset();
  // After a backward pass.
  void Run();

  // Every momentum of that parameter under its name; none for running statistics.
  Status ForEachState(
      size_t parameter,
      const std::function<Status(const std::string& name, std::vector<float>&)>& visit);
  int64_t bytes() const;

 private:
  double ClipScale() const;
  template <class Rule>
  void Apply(size_t parameter, double clip, const Rule& rule);

  Network& network_;
  Solver solver_;
  int64_t updates_ = 0;
  std::vector<std::vector<float>> momenta_,
      momenta2_;  // by parameter; empty for running statistics, the second unless Adam's
};

}  // namespace tench
