// SPDX-License-Identifier: Apache-2.0
#pragma once
// One convolution layer as the candidates see it: shapes, geometry and fused activation. A passive
// value; not aware of oneDNN implementations.

#include <cstdint>
#include <string>

#include "net/op.h"
#include "workers/native/kernels/activation.h"
#include "workers/native/program/program.h"

namespace tench::native {

enum class ConvDirection { kForward, kBackwardData, kBackwardWeights };

struct ConvShape {
  int64_t batch = 0;
  Shape in, out;  // N, C, H, W
  Convolution op;
  Activation activation = Activation::kNone;  // fused into the forward direction
  bool training = true;

  std::string Key() const;  // every property that affects speed, as one word
  int64_t Flops() const;    // of one direction, by definition: 2 per multiply-add
  Md PlainWeights() const;  // (o, i, h, w), or (g, o/g, i/g, h, w) with several groups
  Md BiasMd() const;        // empty without a bias
};

}  // namespace tench::native
