// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of net/solver.h by MXNet's own ops: sgd_mom_update (or multi_sgd_mom_update for
// several parameters at once), nag_mom_update and adam_update. The momentum of the first two is
// m = momentum·m - lr·(g + wd·w): tench's momentum negated. MXNet's adam_update has no bias
// correction; like MXNet's front end, this class applies it to the rate.
//
// - rmsprop: MXNet's rmsprop_update adds epsilon inside of the root, Caffe outside. adam_update
// with
//   beta1 = 0 and no correction is Caffe's update; its second moment is the history.
// - adagrad, adadelta: MXNet has no dense op. Like its front end's optimizers, they are composed of
//   element-wise ops.
// - L1 regularization and the sum over a step's batches are element-wise ops before the update.
//
// Ownership: holds views of
// the executor's arrays and owns the momenta. Apply only queues work, but with clip_gradients it
// waits for the norm, as MXNet's clip_global_norm does.

#include <utility>

#include "net/solver.h"
#include "workers/mxnet/array.h"
#include "workers/mxnet/array_ops.h"

namespace tench::mxnet {

class Update {
 public:
  struct Item {
    Array weight, gradient, momentum, momentum2;  // momentum2: see HasSecondArray
    double lr_mult = 1, weight_decay = 0;
    // The sum of the step's batches, and with L1 the regularized gradient; null if neither is used.
    Array prepared = {};
    const Array& used() const { return prepared ? prepared : gradient; }
  };

  // `aggregate` parameters per op, if MXNet has such an op; 0 or 1 = one op each.
  static Result<Update> Make(const Library& library, std::vector<Item> items, const Solver& solver,
                             int64_t aggregate);

  void SetLearningRate(double lr);
  void Reset() { updates_ = batches_ = 0; }  // restarts Adam's bias correction
  void Resume(int64_t updates) { updates_ = updates; }
  // Call after each batch; the last batch of a step updates the weights.
  Status Apply();

  // Whether the update needs Item::momentum2. rmsprop's is the history, and its momentum is
  // scratch.
  static bool HasSecondArray(SolverType type) {
    return HasSecondHistory(type) || type == SolverType::kRmsprop;
  }

  // The factor from MXNet's momentum to tench's.
  static double MomentumSign(const Solver& solver) { return UsesDelta(solver.type) ? 1 : -1; }

 private:
  // One call, with its attributes as text, which change only with the learning rate.
  struct Call {
    std::vector<void*> inputs, outputs;
    std::vector<double> lr_mults;
    std::string rates, decays, count;
  };
  void SetRates(double lr);
  Result<double> ClipScale();
  Status Accumulate();
  Status Regularize(double scale);
  Status Compose(const Item& item, double scale);
  Status Invoke(Call& call, const std::string& gradient_scale);

  const Library* library_ = nullptr;
  void *op_ = nullptr, *norm_op_ = nullptr;
  bool multiple_ = false;
  Solver solver_;
  int64_t updates_ = 0, batches_ = 0;                       // batches_: of the current step
  std::vector<std::pair<const char*, std::string>> fixed_;  // attributes of every call
  std::vector<Item> items_;
  std::vector<Call> calls_;
};

}  // namespace tench::mxnet
