// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gradient of a convolution's weights, straight from images in blocks of eight channels: a tile of input channels × output channels stays
// in registers while the pixels of an image pass by. For CPUs with AVX2. oneDNN's kernel for the same writes
// its sums to memory after every row of pixels. Knows nothing of oneDNN.

#include <cstdint>

namespace tench::native {

struct ConvGradientShape {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;   // of all groups
  int64_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  bool plain_in = false;   // few channels, one plane after the other
};

constexpr int64_t kGradientBlock = 8;
// Blocks that so many channels fill, the last of them perhaps in part.
inline int64_t GradientBlocks(int64_t channels) { return (channels + kGradientBlock - 1) / kGradientBlock; }

// Whether this CPU and this shape can have it. With several groups their channels must be whole blocks.
bool HasConvGradient(const ConvGradientShape& shape);

// Floats of working memory, for `threads` threads.
int64_t ConvGradientScratch(const ConvGradientShape& shape, int64_t threads);

// x: (n, c / 8, h, w, 8) or, plain, (n, c, h, w). dy: (n, o / 8, h, w, 8). Channels beyond the last are zeros.
// dw: (g, o / 8, i / 8, kh, kw, 8 i, 8 o) or, for a plain x, (o / 8, kh, kw, i, 8 o). db: (o), null if there is no bias.
void ConvGradient(const ConvGradientShape& shape, const float* x, const float* dy, float* dw, float* db, float* scratch);

}  // namespace tench::native
