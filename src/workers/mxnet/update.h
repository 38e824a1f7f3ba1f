// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update by MXNet's own sgd_mom_update, or multi_sgd_mom_update for several parameters at once. Its momentum is
// m = momentum·m - lr·(g + wd·w); w = w + m: ours with the sign turned, which is `kMomentumSign`.
// Holds views of the executor's arrays, and owns the momenta. Apply only queues work.

#include "workers/mxnet/array.h"

namespace tench::mxnet {

inline constexpr float kMomentumSign = -1;

class Update {
 public:
  struct Item {
    Array weight, gradient, momentum;
    double lr_mult = 1, weight_decay = 0;
  };

  // `aggregate` parameters per op; 0 or 1 = each by itself.
  static Result<Update> Make(const Library& library, std::vector<Item> items, double momentum, int64_t aggregate);

  void SetLearningRate(double lr);
  Status Apply();

 private:
  // One call, with its attributes as text: they change only with the learning rate.
  struct Call {
    std::vector<void*> inputs, outputs;
    std::vector<double> lr_mults;
    std::string rates, decays, count;
  };

  const Library* library_ = nullptr;
  void* op_ = nullptr;
  bool multiple_ = false;
  std::string momentum_;
  std::vector<Item> items_;
  std::vector<Call> calls_;
};

}  // namespace tench::mxnet
