// SPDX-License-Identifier: Apache-2.0
// MaxPool and AvgPool know VALID and SAME. Every pool of the network is first worked out as the padding that its windows really need before and
// behind the image; where that is what VALID or SAME would do, they are used, and otherwise the padding is said explicitly.
// An average divides by what tench counts: the padded image, without what ceil mode lets run beyond it.
#include <algorithm>

#include "workers/tensorflow/lowering.h"

namespace tench::tensorflow {
namespace {

// One dimension of a pool.
struct Reach {
  int64_t size, windows, kernel, stride, pad;

  int64_t before() const { return pad; }
  int64_t behind() const { return std::max<int64_t>(0, (windows - 1) * stride + kernel - size - pad); }
  bool valid() const { return before() == 0 && behind() == 0 && (size - kernel) / stride + 1 == windows; }
  // TensorFlow's SAME puts the odd one behind.
  bool same() const {
    const int64_t all = std::max<int64_t>(0, (windows - 1) * stride + kernel - size);
    return windows == (size + stride - 1) / stride && before() == all / 2 && behind() == all - all / 2;
  }
  // How many elements of a window are counted in an average.
  int64_t Counted(int64_t window) const {
    const int64_t begin = window * stride - pad;
    return std::min(begin + kernel, size + pad) - begin;
  }
};

struct Plane {
  Reach h, w;
  bool valid() const { return h.valid() && w.valid(); }
  bool same() const { return h.same() && w.same(); }
  Dims explicit_paddings() const { return {0, 0, h.before(), h.behind(), w.before(), w.behind(), 0, 0}; }
};

NodeDraft& Describe(NodeDraft& node, const Plane& plane) {
  return node.Ints("ksize", {1, plane.h.kernel, plane.w.kernel, 1}).Ints("strides", {1, plane.h.stride, plane.w.stride, 1}).Text("data_format", "NHWC");
}

NodeDraft& DescribeMax(NodeDraft& node, const Plane& plane) {
  Describe(node, plane).Text("padding", plane.valid() ? "VALID" : plane.same() ? "SAME" : "EXPLICIT");
  if (!plane.valid() && !plane.same()) node.Ints("explicit_paddings", plane.explicit_paddings());
  return node;
}

LoweredLayer LowerMax(const Plane& plane, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const TF_Output x = site.in(0);
  NodeDraft node = writer.Add("MaxPool");
  const TF_Output y = DescribeMax(node.In(x), plane).Output();
  LoweredLayer layer;
  layer.value = {y, UsualLayout(site.output_shape())};
  layer.backward = [=, &writer](TF_Output dy) {
    NodeDraft gradient = writer.Add("MaxPoolGrad");
    return LayerGradients{{DescribeMax(gradient.In(x).In(y).In(dy), plane).Output()}, {}};
  };
  return layer;
}

// What turns sums over whole kernels into averages over what is counted; empty where every window counts its whole kernel.
std::vector<float> Corrections(const Plane& plane) {
  std::vector<float> corrections;
  const int64_t whole = plane.h.kernel * plane.w.kernel;
  bool any = false;
  for (int64_t y = 0; y < plane.h.windows; ++y) {
    for (int64_t x = 0; x < plane.w.windows; ++x) {
      const int64_t counted = plane.h.Counted(y) * plane.w.Counted(x);
      any = any || counted != whole;
      corrections.push_back(static_cast<float>(static_cast<double>(whole) / static_cast<double>(counted)));
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
  // SAME counts the image's own elements only, which is right where no padding is asked for.
  if (plane.same() && plane.h.pad == 0 && plane.w.pad == 0) {
    layer.value.output = pool(site.in(0), "SAME");
    return layer;
  }
  const auto size = [](int64_t value) { return static_cast<int32_t>(value); };
  const std::vector<int32_t> paddings{0, 0, size(plane.h.before()), size(plane.h.behind()), size(plane.w.before()), size(plane.w.behind()), 0, 0};
  const TF_Output padded = writer.Add("Pad").In(site.in(0)).In(writer.Constant(std::span<const int32_t>(paddings), {4, 2})).Output();
  layer.value.output = pool(padded, "VALID");
  if (const std::vector<float> corrections = Corrections(plane); !corrections.empty()) {
    const TF_Output factor = writer.Constant(std::span<const float>(corrections), {1, plane.h.windows, plane.w.windows, 1});
    layer.value.output = writer.Add("Mul", "counted").In(layer.value.output).In(factor).Output();
  }
  return layer;
}

}  // namespace

LoweredLayer LowerPooling(const Pooling& op, const LayerSite& site) {
  const Shape &in = site.shape(0), &out = site.output_shape();
  const Hw kernel = op.global ? Hw{in[2], in[3]} : op.kernel;
  const Plane plane{{in[2], out[2], kernel.h, op.stride.h, op.pad.h}, {in[3], out[3], kernel.w, op.stride.w, op.pad.w}};
  if (op.mode == PoolMode::kMax) return LowerMax(plane, site);
  if (!op.global) return LowerAvg(plane, site);
  LoweredLayer layer;
  layer.value = {site.writer.Add("Mean").In(site.in(0)).In(site.writer.Integers({1, 2})).Bool("keep_dims", true).Output(), UsualLayout(out)};
  return layer;
}

}  // namespace tench::tensorflow
