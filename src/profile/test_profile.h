// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: a network of two images, and profiles of it by two workers that divide their kernels
// differently.

#include <vector>

#include "net/builder.h"
#include "net/graph.h"
#include "profile/alignment.h"
#include "profile/census_builder.h"

namespace tench {

inline TypedGraph ProfiledNetwork() {
  GraphBuilder builder("pond");
  builder.Append("data", Input{InputRole::kData, {3, 8, 8}, {}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {}}, {});
  builder.Append("conv1", Convolution{4, {3, 3}, {1, 1}, {1, 1}}, {"data"});
  builder.Append("relu1", Relu{}, {"conv1"});
  builder.Append("conv2", Convolution{4, {3, 3}, {1, 1}, {1, 1}}, {"relu1"});
  builder.Append("flat", Flatten{}, {"conv2"});
  builder.Append("fc", FullyConnected{10}, {"flat"});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return *Infer(builder.Take(), 2);
}

// Four steps. Fuses ReLU, separates the gradients, reports bytes, and updates by layer.
inline std::vector<ProfileRow> FusingProfile() {
  return {{"conv1", "forward", "jit:avx2", 4, 4'000'000, 400'000, 64},
          {"conv2", "forward", "winograd:avx2", 4, 8'000'000, 800'000'000, 64},
          {"conv2", "backward_data", "jit:avx2", 4, 4'000'000, 400'000, 64},
          {"conv2", "backward_weights", "jit:avx2", 4, 8'000'000, 400'000, 64},
          {"conv2", "backward_weights", "reorder", 4, 1'000'000, 0, 64},
          {"fc", "forward", "gemm", 4, 2'000'000, 800, 64},
          {"loss", "forward", "loss", 4, 1'000'000, 0, 64},
          {"conv1", "update", "sgd", 4, 400'000, 0, 64},
          {"conv2", "update", "sgd", 4, 400'000, 0, 64}};
}

// Two steps. One kernel for both gradients, one update of everything, a copy of no layer.
inline std::vector<ProfileRow> PlainProfile() {
  return {{"conv1", "forward", "aten::convolution", 2, 4'000'000, 200'000, 0},
          {"relu1", "forward", "aten::relu", 2, 1'000'000, 0, 0},
          {"conv2", "forward", "aten::convolution", 2, 8'000'000, 400'000'000, 0},
          {"conv2", "backward", "aten::convolution_backward", 2, 12'000'000, 400'000, 0},
          {"fc", "forward", "aten::addmm", 2, 1'000'000, 400, 0},
          {"loss", "forward", "aten::nll_loss", 2, 500'000, 0, 0},
          {"all parameters", "update", "aten::_fused_sgd_", 2, 800'000, 0, 0},
          {"", "forward", "aten::copy_", 4, 200'000, 0, 0}};
}

inline ProfiledSide FusingSide() {
  return {"native", MakeCensus(FusingProfile(), ProfiledNetwork(), "native", 5), 8'000'000};
}
inline ProfiledSide PlainSide() {
  return {"torch", MakeCensus(PlainProfile(), ProfiledNetwork(), "torch", 3), 15'000'000};
}

}  // namespace tench
