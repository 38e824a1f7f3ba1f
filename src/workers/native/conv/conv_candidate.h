// SPDX-License-Identifier: Apache-2.0
#pragma once
// One way to compute one direction of one convolution: a oneDNN primitive with the layouts that it
// wants. ListConvCandidates lists the ways that are legal here, what is best without a trial first
// and portable loops last: oneDNN's implementations for blocked and channels-last images, and for a
// forward convolution of stride 1 its backward-data kernel on weights that are transposed and
// turned by 180 degrees ("flipped"), which is the same sum; and kernels of our own (own_conv.h).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "net/op.h"
#include "workers/native/kernels/activation.h"
#include "workers/native/program/program.h"

namespace tench::native {

struct ConvShape {
  int64_t batch = 0;
  Shape in, out;  // N, C, H, W
  Convolution op;
  Activation activation = Activation::kNone;  // of the forward direction
  bool training = true;
  std::string Key() const;  // everything that matters for speed, as one word
  int64_t Flops() const;    // of one direction
  Md PlainWeights() const;  // (o, i, h, w), with groups in front if there are several
  Md BiasMd() const;        // nothing if there is none
};

enum class ConvDirection { kForward, kBackwardData, kBackwardWeights };

struct ConvCandidate {
  std::string id;  // "blocked/0": the family and the place in oneDNN's list; "own/0", "winograd/0"
  std::string implementation;  // oneDNN's name
  std::function<dnnl::primitive()>
      make;  // generates its code: slow, so only for those that will run
  Md in, weights, bias, out,
      scratchpad;        // of data or its gradient; bias is empty where the primitive has none
  bool flipped = false;  // needs flipped weights, and bias and activation as a pass of their own
  // Instead of `make`: of the input's image or its gradient, the output's or its gradient, the
  // weights or theirs, the bias or its gradient (null if there is none), and the scratchpad. Bias
  // and activation of the forward direction are its own matter.
  std::function<void(float* in, float* out, float* weights, float* bias, float* scratch)> own;
};

// `home_weights` is the layout of the weights between steps, empty if this kernel is to decide it.
// With `only`, an id, just that kernel is listed, if it exists. Throws dnnl::error if there is no
// way at all.
std::vector<ConvCandidate> ListConvCandidates(const ConvShape& shape, ConvDirection direction,
                                              const Md& home_weights, const dnnl::engine& engine,
                                              const std::string& only = "");

// Plain loops without generated code, hundreds of times slower.
bool IsPortable(const ConvCandidate& kernel);

// Whether FlipWeights can turn `home` into `flipped`: both in square channel blocks of the same
// inner order.
bool CanFlip(const Md& home, const Md& flipped);
// weights[o][i][h][w] to flipped[i][o][H-1-h][W-1-w], block by block.
void FlipWeights(const Md& home, const float* weights, float* flipped);

}  // namespace tench::native
