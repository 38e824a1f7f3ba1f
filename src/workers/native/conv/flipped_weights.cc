// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/flipped_weights.h"

#include <algorithm>

#include "workers/native/kernels/parallel.h"
#include "workers/native/program/layout.h"

namespace tench::native {

bool CanFlip(const Md& stored, const Md& flipped) {
  const int groups = stored.get_ndims() - 4;
  const auto stored_blocks = stored.get_inner_blks(), flipped_blocks = flipped.get_inner_blks();
  const auto stored_order = stored.get_inner_idxs(), flipped_order = flipped.get_inner_idxs();
  if (stored.get_ndims() != flipped.get_ndims() || stored_blocks.size() != 2 ||
      stored_blocks[0] != stored_blocks[1])
    return false;
  // The stored inner block is [i][o]. In the flipped weights i and o exchange roles, so the inner
  // block [o'][i'] is the same order.
  return stored_blocks == flipped_blocks && stored_order == Shape{groups + 1, groups} &&
         flipped_order == Shape{groups, groups + 1} && !IsPadded(stored) && !IsPadded(flipped) &&
         IsDense(stored) && IsDense(flipped);
}

void FlipWeights(const Md& stored, const float* weights, float* flipped) {
  const Shape dims = stored.get_dims();
  const int64_t block = stored.get_inner_blks()[0], grouped = static_cast<int64_t>(dims.size()) - 4;
  const int64_t groups = grouped ? dims[0] : 1;
  const int64_t out = dims[grouped] / block, in = dims[grouped + 1] / block,
                area = dims[grouped + 2] * dims[grouped + 3];
  const int64_t elements = block * block;
  ParallelFor(groups * out * in, std::max<int64_t>(1, 16384 / (area * elements)),
              [&](int64_t first, int64_t last) {
                for (int64_t at = first; at < last; ++at) {
                  const int64_t i = at % in, o = at / in % out, g = at / in / out;
                  const float* from = weights + at * area * elements;
                  float* to = flipped + ((g * in + i) * out + o) * area * elements;
                  for (int64_t k = 0; k < area; ++k)
                    std::copy_n(from + k * elements, elements, to + (area - 1 - k) * elements);
                }
              });
}

}  // namespace tench::native
