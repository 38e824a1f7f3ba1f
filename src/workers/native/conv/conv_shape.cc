// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_shape.h"

#include "base/error.h"
#include "workers/native/program/layout.h"

namespace tench::native {

std::string ConvShape::Key() const {
  return fmt::format("n{}_i{}x{}x{}_o{}x{}x{}_k{}x{}_s{}x{}_p{}x{}_d{}x{}_g{}_b{}_a{}", batch,
                     in[1], in[2], in[3], out[1], out[2], out[3], op.kernel.h, op.kernel.w,
                     op.stride.h, op.stride.w, op.pad.h, op.pad.w, op.dilation.h, op.dilation.w,
                     op.groups, op.bias ? 1 : 0, static_cast<int>(activation));
}

int64_t ConvShape::Flops() const {
  return 2 * ElementCount(out) * (in[1] / op.groups) * op.kernel.h * op.kernel.w;
}

Md ConvShape::BiasMd() const { return op.bias ? PlainMd({op.out_channels}) : Md(); }

Md ConvShape::PlainWeights() const {
  const int64_t groups = op.groups;
  if (groups == 1) return PlainMd({op.out_channels, in[1], op.kernel.h, op.kernel.w});
  return PlainMd({groups, op.out_channels / groups, in[1] / groups, op.kernel.h, op.kernel.w});
}

}  // namespace tench::native
