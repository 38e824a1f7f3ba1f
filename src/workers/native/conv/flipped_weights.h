// SPDX-License-Identifier: Apache-2.0
#pragma once
// Flipped weights: input and output channels exchanged and every filter rotated by 180 degrees.
// A stride-1 forward convolution equals the backward-data pass of the mirrored convolution on
// flipped weights. Pure functions; FlipWeights uses OpenMP's threads.

#include "workers/native/program/program.h"

namespace tench::native {

// Whether FlipWeights converts the layout `stored` to the layout `flipped`: both have square,
// unpadded channel blocks of matching inner order.
bool CanFlip(const Md& stored, const Md& flipped);
// weights[o][i][h][w] to flipped[i][o][H-1-h][W-1-w], block by block. `stored` is the layout of
// `weights`; the arrays must not overlap.
void FlipWeights(const Md& stored, const float* weights, float* flipped);

}  // namespace tench::native
