// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gives a network without a loss one loss per output. Deploy files end in scores or probabilities,
// and every worker reports a loss, which the trials of parity compare.
//   - A softmax over the classes of a sample becomes a softmax cross-entropy with generated labels:
//     the same work and one logarithm per sample.
//   - Any other output gets a mean squared error with generated targets.
// Thread safety: pure function.

#include <set>
#include <string>
#include <vector>

#include "net/graph.h"

namespace tench {

// Does nothing if a layer is a loss. An output is a layer without readers that is neither an input
// nor in `silenced` (names of layers that Caffe's Silence reads). Afterwards only the `layer` of
// the elements is valid, because layers were inserted. Returns one note per output.
std::vector<std::string> AddOutputLosses(const std::set<std::string>& silenced,
                                         std::vector<TypedLayer>& layers);

}  // namespace tench
