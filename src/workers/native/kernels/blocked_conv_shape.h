// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shape of a convolution in a channel-blocked layout, shared by the direct and the Winograd
// kernels. With B = block:
//   x        (n, i / B, h, w, B i), or (n, i, h, w) if plain_in
//   y        (n, o / B, h, w, B o)
//   weights  (g, o / B, i / B, kh, kw, B i, B o), or (o / 8, kh, kw, i, 8 o) if plain_in
// Gradients have the layout of the tensor that they belong to.
//
// Invariants: channels of a last block that is only partly used are zero in every input, and the
// kernels write zeros there. With several groups the channels of each fill whole blocks.

#include <cstdint>

namespace tench::native {

struct BlockedConvShape {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of all groups
  int64_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  int64_t kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0,
          dilation_h = 1, dilation_w = 1;  // dilation 1: dense taps
  int64_t block = 8;
  bool plain_in = false;  // x has too few channels to fill a block
};

constexpr int64_t kChannelBlock = 8;  // the only block size of the AVX2 kernels

// The number of blocks that hold `channels`, a partly used last one included.
inline int64_t ChannelBlocks(int64_t channels, int64_t block = kChannelBlock) {
  return (channels + block - 1) / block;
}

}  // namespace tench::native
