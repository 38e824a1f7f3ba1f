// SPDX-License-Identifier: Apache-2.0
// MaxPool and AvgPool support VALID and SAME. The padding that a pool's windows need before and
// after the image is computed first. If it equals VALID or SAME, that mode is used; otherwise the
// image is padded explicitly. An average divides by tench's count: the padded image, without the
// part beyond it that ceil mode adds.
#include <limits>

#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/window.h"

namespace tench::tensorflow {
namespace {

NodeDraft& Describe(NodeDraft& node, const Plane& plane) {
  return node.Ints("ksize", {1, plane.h.kernel, plane.w.kernel, 1})
      .Ints("strides", {1, plane.h.stride, plane.w.stride, 1})
      .Text("data_format", "NHWC");
}

NodeDraft& DescribeMax(NodeDraft& node, const Plane& plane) {
  return Describe(node, plane).Text("padding", !plane.valid() && plane.same() ? "SAME" : "VALID");
}

// Explicit padding of a max pool has Eigen's kernel only. A Pad with the lowest value before VALID
// is faster.
LoweredLayer LowerMax(const Plane& plane, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const bool padded = !plane.valid() && !plane.same();
  const TF_Output x =
      padded ? PadImage(writer, site.in(0), plane, -std::numeric_limits<float>::infinity())
             : site.in(0);
  NodeDraft node = writer.Add("MaxPool");
  const TF_Output y = DescribeMax(node.In(x), plane).Output();
  LoweredLayer layer;
  layer.value = {y, UsualLayout(site.output_shape())};
  const Shape& in = site.shape(0);
  layer.backward = [=, &writer](TF_Output dy) {
    NodeDraft gradient = writer.Add("MaxPoolGrad");
    TF_Output dx = DescribeMax(gradient.In(x).In(y).In(dy), plane).Output();
    if (padded) {
      const TF_Output begin = writer.Integers({0, plane.h.before(), plane.w.before(), 0});
      dx = writer.Add("Slice")
               .In(dx)
               .In(begin)
               .In(writer.Integers({in[0], in[2], in[3], in[1]}))
               .Output();
    }
    return LayerGradients{{dx}, {}};
  };
  return layer;
}

// Factors from averages over whole kernels to averages over counted elements; empty if every window
// counts its whole kernel.
std::vector<float> Corrections(const Plane& plane) {
  std::vector<float> corrections;
  const int64_t whole = plane.h.kernel * plane.w.kernel;
  bool any = false;
  for (int64_t y = 0; y < plane.h.windows; ++y) {
    for (int64_t x = 0; x < plane.w.windows; ++x) {
      const int64_t counted = plane.h.Counted(y) * plane.w.Counted(x);
      any = any || counted != whole;
      corrections.push_back(
          static_cast<float>(static_cast<double>(whole) / static_cast<double>(counted)));
    }
  }
  if (!any) corrections.clear();
  return corrections;
}

LoweredLayer LowerAvg(const Plane& plane, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const auto pool = [&](TF_Output x, const char* padding) {
    NodeDraft node = writer.Add("AvgPool");
    return Describe(node.In(x), plane).Text("padding", padding).Output();
  };
  LoweredLayer layer;
  layer.value.layout = UsualLayout(site.output_shape());
  if (plane.valid()) {
    layer.value.output = pool(site.in(0), "VALID");
    return layer;
  }
  // SAME counts elements of the image only, which is correct without padding.
  if (plane.same() && plane.h.pad == 0 && plane.w.pad == 0) {
    layer.value.output = pool(site.in(0), "SAME");
    return layer;
  }
  const TF_Output padded = PadImage(writer, site.in(0), plane, 0);
  layer.value.output = pool(padded, "VALID");
  if (const std::vector<float> corrections = Corrections(plane); !corrections.empty()) {
    const TF_Output factor = writer.Constant(std::span<const float>(corrections),
                                             {1, plane.h.windows, plane.w.windows, 1});
    layer.value.output = writer.Add("Mul", "counted").In(layer.value.output).In(factor).Output();
  }
  return layer;
}

}  // namespace

LoweredLayer LowerPooling(const Pooling& op, const LayerSite& site) {
  const Shape &in = site.shape(0), &out = site.output_shape();
  const Hw kernel = op.global ? Hw{in[2], in[3]} : op.kernel;
  const Plane plane{{in[2], out[2], kernel.h, op.stride.h, op.pad.h},
                    {in[3], out[3], kernel.w, op.stride.w, op.pad.w}};
  if (op.mode == PoolMode::kMax) return LowerMax(plane, site);
  if (!op.global) return LowerAvg(plane, site);
  LoweredLayer layer;
  layer.value = {site.writer.Add("Mean")
                     .In(site.in(0))
                     .In(site.writer.Integers({1, 2}))
                     .Bool("keep_dims", true)
                     .Output(),
                 UsualLayout(out)};
  return layer;
}

}  // namespace tench::tensorflow
