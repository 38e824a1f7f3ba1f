// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/direct_candidates.h"

#include "workers/native/kernels/conv_backward_data.h"
#include "workers/native/kernels/conv_backward_weights.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/winograd/conv.h"
#include "workers/native/program/layout.h"

namespace tench::native {
namespace {

using Tag = dnnl::memory::format_tag;

BlockedConvShape BlockedShape(const ConvShape& shape) {
  return {shape.batch,         shape.op.groups,   shape.in[1],
          shape.out[1],        shape.in[2],       shape.in[3],
          shape.out[2],        shape.out[3],      shape.op.kernel.h,
          shape.op.kernel.w,   shape.op.stride.h, shape.op.stride.w,
          shape.op.pad.h,      shape.op.pad.w,    shape.op.dilation.h,
          shape.op.dilation.w, ChannelBlock(),    IsPlain(ActivationMd(shape.in))};
}

// The direct kernels are written for blocks of eight channels.
bool HasDirectBlocks() { return ChannelBlock() == kChannelBlock; }

Tag WeightsTag(const ConvShape& shape) {
  const bool grouped = shape.op.groups > 1;
  if (!HasDirectBlocks()) return grouped ? Tag::gOIhw16i16o : Tag::OIhw16i16o;
  return BlockedShape(shape).plain_in ? Tag::Ohwi8o : grouped ? Tag::gOIhw8i8o : Tag::OIhw8i8o;
}

// Images in the layout between layers, weights in square channel blocks (blocked_conv_shape.h).
ConvCandidate DirectCandidate(const std::string& id, const std::string& implementation,
                              const ConvShape& shape, const Md& bias, int64_t scratch,
                              decltype(ConvCandidate::run) run) {
  return {id,
          implementation,
          {},
          ActivationMd(shape.in),
          Md(shape.PlainWeights().get_dims(), dnnl::memory::data_type::f32, WeightsTag(shape)),
          bias,
          ActivationMd(shape.out),
          scratch > 0 ? PlainMd({scratch}) : Md(),
          false,
          std::move(run)};
}

}  // namespace

void AddDirectBackwardWeights(const ConvShape& shape, std::vector<ConvCandidate>& candidates) {
  const BlockedConvShape blocked = BlockedShape(shape);
  if (!HasDirectBlocks() || !HasConvBackwardWeights(blocked)) return;
  candidates.push_back(
      DirectCandidate("direct/0", "direct:avx2", shape, shape.BiasMd(),
                      ConvBackwardWeightsScratch(blocked, omp_get_max_threads()),
                      [blocked](float* x, float* dy, float* dw, float* db, float* scratch) {
                        ConvBackwardWeights(blocked, x, dy, dw, scratch);
                        if (db != nullptr) ConvBackwardBias(blocked, dy, db);
                      }));
}

void AddDirectBackwardData(const ConvShape& shape, std::vector<ConvCandidate>& candidates) {
  const BlockedConvShape blocked = BlockedShape(shape);
  if (!HasDirectBlocks() || !HasConvBackwardData(blocked)) return;
  candidates.push_back(
      DirectCandidate("direct/0", "direct:avx2", shape, Md(),
                      ConvBackwardDataScratch(blocked, omp_get_max_threads()),
                      [blocked](float* dx, float* dy, float* w, float*, float* scratch) {
                        ConvBackwardData(blocked, dy, w, dx, scratch);
                      }));
}

void AddWinograd(const ConvShape& shape, ConvDirection direction,
                 std::vector<ConvCandidate>& candidates) {
  const BlockedConvShape blocked = BlockedShape(shape);
  const bool blocked_images = ActivationMd(shape.in).get_inner_nblks() == 1 &&
                              ActivationMd(shape.out).get_inner_nblks() == 1;
  if (!blocked_images || !HasWinograd(blocked)) return;
  const auto add = [&](const Md& bias, decltype(ConvCandidate::run) run) {
    candidates.push_back(DirectCandidate("winograd/0",
                                         HasDirectBlocks() ? "winograd:avx2" : "winograd:avx512",
                                         shape, bias, WinogradScratch(blocked), std::move(run)));
  };
  if (direction == ConvDirection::kBackwardData) {
    add(Md(), [blocked](float* dx, float* dy, float* w, float*, float* scratch) {
      WinogradBackwardData(blocked, dy, w, dx, scratch);
    });
  } else if (direction == ConvDirection::kBackwardWeights) {
    add(shape.BiasMd(), [blocked](float* x, float* dy, float* dw, float* db, float* scratch) {
      WinogradBackwardWeights(blocked, x, dy, dw, scratch);
      if (db != nullptr) ConvBackwardBias(blocked, dy, db);
    });
  } else if (shape.activation == Activation::kNone || shape.activation == Activation::kRelu) {
    add(shape.BiasMd(), [blocked, relu = shape.activation == Activation::kRelu](
                            float* x, float* y, float* w, float* bias, float* scratch) {
      WinogradForward(blocked, x, w, bias, relu, y, scratch);
    });
  }
}

bool FavoursWinograd(const ConvShape& shape) { return FavoursWinograd(BlockedShape(shape)); }

}  // namespace tench::native
