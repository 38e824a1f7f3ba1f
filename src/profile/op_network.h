// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network of a single convolution or matrix product, from its problem text. The op reads the
// output of a trained `scale` layer, so that all three directions are computed. Not aware of
// workers.
// Thread safety: a pure function.

#include <cstdint>
#include <string>
#include <string_view>

#include "net/graph.h"

namespace tench {

inline constexpr const char* kOpLayer = "op";

struct OpNetwork {
  Graph graph;
  int64_t batch = 1;
};

// `op` is "conv" or "fc". A convolution has benchdnn's form, "mb16ic64ih56oc64kh3ph1": what is left
// out follows benchdnn's rules (a width is the height, stride 1, no padding, one group); oh and ow
// are checked. A product is "m16n4096k9216": m is the batch. Errors are one line.
Result<OpNetwork> ParseOpNetwork(std::string_view op, std::string_view problem);

}  // namespace tench
