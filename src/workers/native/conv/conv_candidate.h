// SPDX-License-Identifier: Apache-2.0
#pragma once
// One implementation of one direction of a convolution, with the layouts that it requires. The
// candidates of a layer are
// - oneDNN's implementations for blocked and for channels-last images (next_impl);
// - for a stride-1 forward convolution, oneDNN's backward-data implementations on flipped weights
//   (flipped_weights.h), which compute the same sum;
// - the direct and Winograd kernels of direct_candidates.h.
// Not aware of measurements or of which candidate is selected.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "workers/native/conv/conv_shape.h"

namespace tench::native {

struct ConvCandidate {
  // FAMILY/INDEX: "blocked/0" is oneDNN's first implementation for blocked images. Families:
  // blocked, channels_last, plain_in, flipped, direct, winograd.
  std::string id;
  std::string implementation;             // oneDNN's name of it, or the kernel's
  std::function<dnnl::primitive()> make;  // generates code, which is slow
  // Of the data or their gradients; bias is empty if the primitive has none.
  Md in, weights, bias, out, scratchpad;
  bool flipped = false;  // reads flipped weights; bias and activation are a separate step
  // A direct kernel, instead of `make`. In the backward directions `in`, `out`, `weights` and
  // `bias` are gradients where the direction computes them. `bias` is null if there is none. The
  // forward kernel applies bias and activation itself.
  std::function<void(float* in, float* out, float* weights, float* bias, float* scratch)> run;
};

// The candidates in order of preference without a measurement: the default candidate first,
// portable loops last. `stored_weights` is the layout of the weights between steps, empty if this
// candidate determines it. With `only`, an id, that candidate or none. Throws dnnl::error if there
// is no candidate at all.
std::vector<ConvCandidate> ListConvCandidates(const ConvShape& shape, ConvDirection direction,
                                              const Md& stored_weights, const dnnl::engine& engine,
                                              const std::string& only = "");

// "winograd", "gemm" (im2col and a matrix product) or "direct".
std::string_view AlgorithmOf(const ConvCandidate& candidate);

// oneDNN's reference loops: no generated code, hundreds of times slower.
bool IsPortable(const ConvCandidate& candidate);

}  // namespace tench::native
