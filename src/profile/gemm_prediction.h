// SPDX-License-Identifier: Apache-2.0
#pragma once
// The number of SGEMM calls of a training run by Caffe, predicted from the network's definition, in
// the form of Table 5.1 of the UFSM thesis (2017): by the transposes of both operands.
//
// Caffe computes a convolution per image and group as im2col and a matrix product, and a fully
// connected layer as one product per batch:
//
//                                   CPU (row-major)   GPU (cuBLAS, column-major)
//   convolution, forward            nn                nn
//   convolution, weight gradient    nt                tn
//   convolution, data gradient      tn                nt
//   fully connected, forward        nt                tn
//   fully connected, weight grad.   tn                nt
//   fully connected, data gradient  nn                nn
//
// A bias is a product with k = 1 (nn), per image for a convolution and per batch for a fully
// connected layer. cuBLAS computes such products by kernels that the thesis's table does not list.
// Thread safety: pure.

#include <cstdint>

#include "net/graph.h"

namespace tench {

struct GemmCounts {
  int64_t nn = 0, nt = 0, tn = 0;
  int64_t bias = 0;  // nn with k = 1; not part of `nn`
  int64_t sum() const { return nn + nt + tn; }
  bool operator==(const GemmCounts&) const = default;
};

enum class BlasPath { kCpu, kGpu };

// `forward` and `backward` are the numbers of passes: n iterations and one closing test pass are
// n + 1 and n. Fails for a layer whose products are not of a fixed number (LSTM, embedding).
Result<GemmCounts> PredictCaffeGemms(const TypedGraph& graph, int64_t forward, int64_t backward,
                                     BlasPath path);

}  // namespace tench
