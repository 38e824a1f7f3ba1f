// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inputs of a layer that has several, in logical order. One input may be computed from another,
// and TF_AddGradients would also follow that path. Such layers write the gradient of each input
// themselves. A plain value; the writer owns the nodes.

#include <vector>

#include "workers/tensorflow/lowering.h"

namespace tench::tensorflow {

struct Parts {
  std::vector<TF_Output> inside, outside;
  std::vector<bool> needed;

  explicit Parts(const LayerSite& site) {
    for (size_t i = 0; i < site.inputs(); ++i) {
      inside.push_back(site.PlainIn(i));
      outside.push_back(site.in(i));
      needed.push_back(site.NeedsGradient(i));
    }
  }
  TF_Output Outward(GraphWriter& writer, size_t i, TF_Output gradient) const {
    return inside[i].oper == outside[i].oper ? gradient
                                             : writer.Gradient(inside[i], gradient, outside[i]);
  }
};

}  // namespace tench::tensorflow
