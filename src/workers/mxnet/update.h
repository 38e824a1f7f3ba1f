// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of net/solver.h by MXNet's own ops: sgd_mom_update (or multi_sgd_mom_update for
// several parameters at once), nag_mom_update and adam_update. The momentum of the first two is
// m = momentum·m - lr·(g + wd·w): tench's momentum negated. MXNet's adam_update has no bias
// correction; like MXNet's front end, this class applies it to the rate. Ownership: holds views of
// the executor's arrays and owns the momenta. Apply only queues work, but with clip_gradients it
// waits for the norm, as MXNet's clip_global_norm does.

#include <utility>

#include "net/solver.h"
#include "workers/mxnet/array.h"

namespace tench::mxnet {

class Update {
 public:
  struct Item {
    Array weight, gradient, momentum, momentum2;  // momentum2 is Adam's
    double lr_mult = 1, weight_decay = 0;
  };

  // `aggregate` parameters per op, if MXNet has such an op; 0 or 1 = one op each.
  static Result<Update> Make(const Library& library, std::vector<Item> items, const Solver& solver,
                             int64_t aggregate);

  void SetLearningRate(double lr);
  void Reset() { updates_ = 0; }  // restarts Adam's bias correction
  Status Apply();

  // The factor from MXNet's momentum to tench's.
  static double MomentumSign(const Solver& solver) {
    return solver.type == SolverType::kAdam ? 1 : -1;
  }

 private:
  // One call, with its attributes as text, which change only with the learning rate.
  struct Call {
    std::vector<void*> inputs, outputs;
    std::vector<double> lr_mults;
    std::string rates, decays, count;
  };
  void SetRates(double lr);
  Result<double> ClipScale();
  Status Invoke(Call& call, const std::string& gradient_scale);

  const Library* library_ = nullptr;
  void *op_ = nullptr, *norm_op_ = nullptr;
  bool multiple_ = false;
  Solver solver_;
  int64_t updates_ = 0;
  std::vector<std::pair<const char*, std::string>> fixed_;  // attributes of every call
  std::vector<Item> items_;
  std::vector<Call> calls_;
};

}  // namespace tench::mxnet
