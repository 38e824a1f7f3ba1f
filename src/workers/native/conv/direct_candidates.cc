// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/direct_candidates.h"

#include "workers/native/compile/lowering.h"
#include "workers/native/kernels/conv_backward_data.h"
#include "workers/native/kernels/conv_backward_weights.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/winograd/conv.h"

namespace tench::native {
namespace {

using Tag = dnnl::memory::format_tag;

BlockedConvShape OwnShape(const ConvShape& shape) {
  return {shape.batch,         shape.op.groups,   shape.in[1],
          shape.out[1],        shape.in[2],       shape.in[3],
          shape.out[2],        shape.out[3],      shape.op.kernel.h,
          shape.op.kernel.w,   shape.op.stride.h, shape.op.stride.w,
          shape.op.pad.h,      shape.op.pad.w,    shape.op.dilation.h,
          shape.op.dilation.w, ChannelBlock(),    IsPlain(HomeMd(shape.in))};
}

// Whether a kernel that knows only one size of blocks can be used.
bool InDirectBlocks() { return ChannelBlock() == kChannelBlock; }

Tag OwnTag(const ConvShape& shape) {
  const bool grouped = shape.op.groups > 1;
  if (!InDirectBlocks()) return grouped ? Tag::gOIhw16i16o : Tag::OIhw16i16o;
  return OwnShape(shape).plain_in ? Tag::Ohwi8o : grouped ? Tag::gOIhw8i8o : Tag::OIhw8i8o;
}

// Kernels of our own: as the images lie between layers, weights in square blocks
// (own_conv_shape.h).
ConvCandidate OwnKernel(const std::string& id, const std::string& implementation,
                        const ConvShape& shape, const Md& bias, int64_t scratch,
                        decltype(ConvCandidate::own) run) {
  return {id,
          implementation,
          {},
          HomeMd(shape.in),
          Md(shape.PlainWeights().get_dims(), dnnl::memory::data_type::f32, OwnTag(shape)),
          bias,
          HomeMd(shape.out),
          scratch > 0 ? PlainMd({scratch}) : Md(),
          false,
          std::move(run)};
}

}  // namespace

void AddOwnGradient(const ConvShape& shape, std::vector<ConvCandidate>& kernels) {
  const BlockedConvShape own = OwnShape(shape);
  if (!InDirectBlocks() || !HasConvBackwardWeights(own)) return;
  kernels.push_back(OwnKernel("own/0", "own:avx2", shape, shape.BiasMd(),
                              ConvBackwardWeightsScratch(own, omp_get_max_threads()),
                              [own](float* x, float* dy, float* dw, float* db, float* scratch) {
                                ConvBackwardWeights(own, x, dy, dw, scratch);
                                if (db != nullptr) ConvBackwardBias(own, dy, db);
                              }));
}

void AddOwnData(const ConvShape& shape, std::vector<ConvCandidate>& kernels) {
  const BlockedConvShape own = OwnShape(shape);
  if (!InDirectBlocks() || !HasConvBackwardData(own)) return;
  kernels.push_back(OwnKernel("own/0", "own:avx2", shape, Md(),
                              ConvBackwardDataScratch(own, omp_get_max_threads()),
                              [own](float* dx, float* dy, float* w, float*, float* scratch) {
                                ConvBackwardData(own, dy, w, dx, scratch);
                              }));
}

void AddWinograd(const ConvShape& shape, ConvDirection direction,
                 std::vector<ConvCandidate>& kernels) {
  const BlockedConvShape own = OwnShape(shape);
  const bool home =
      HomeMd(shape.in).get_inner_nblks() == 1 && HomeMd(shape.out).get_inner_nblks() == 1;
  if (!home || !HasWinograd(own)) return;
  const auto add = [&](const Md& bias, decltype(ConvCandidate::own) run) {
    kernels.push_back(OwnKernel("winograd/0",
                                InDirectBlocks() ? "winograd:avx2" : "winograd:avx512", shape, bias,
                                WinogradScratch(own), std::move(run)));
  };
  if (direction == ConvDirection::kBackwardData) {
    add(Md(), [own](float* dx, float* dy, float* w, float*, float* scratch) {
      WinogradBackwardData(own, dy, w, dx, scratch);
    });
  } else if (direction == ConvDirection::kBackwardWeights) {
    add(shape.BiasMd(), [own](float* x, float* dy, float* dw, float* db, float* scratch) {
      WinogradBackwardWeights(own, x, dy, dw, scratch);
      if (db != nullptr) ConvBackwardBias(own, dy, db);
    });
  } else if (shape.activation == Activation::kNone || shape.activation == Activation::kRelu) {
    add(shape.BiasMd(), [own, relu = shape.activation == Activation::kRelu](
                            float* x, float* y, float* w, float* bias, float* scratch) {
      WinogradForward(own, x, w, bias, relu, y, scratch);
    });
  }
}

bool FavoursWinograd(const ConvShape& shape) { return FavoursWinograd(OwnShape(shape)); }

}  // namespace tench::native
