// SPDX-License-Identifier: Apache-2.0
#pragma once
// The convolutions that kernels of our own compute, and how their images and weights lie in memory:
// in blocks of B = 8 channels (some kernels know 16 too), those beyond the last zeros. x: (n, i /
// B, h, w, B). y: (n, o / B, h, w, B). Weights: (g, o / B, i / B, kh, kw, B i, B o).

#include <cstdint>

namespace tench::native {

struct BlockedConvShape {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of all groups
  int64_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0,
          dilation_h = 1, dilation_w = 1;
  int64_t block = 8;
  bool plain_in =
      false;  // x has few channels: (n, i, h, w), and weights are (o / 8, kh, kw, i, 8 o)
};

constexpr int64_t kChannelBlock = 8;  // of most
// Blocks that so many channels fill, the last of them perhaps in part.
inline int64_t ChannelBlocks(int64_t channels, int64_t block = kChannelBlock) {
  return (channels + block - 1) / block;
}

}  // namespace tench::native
