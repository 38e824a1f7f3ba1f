// SPDX-License-Identifier: Apache-2.0
// Conv2D in NHWC, its two gradient nodes and BiasAdd. oneDNN's kernels are used for VALID and SAME
// only, so other paddings are a Pad before VALID. TensorFlow's CPU kernels lack two gradients. A
// dilated convolution is therefore lowered to SpaceToBatchND, a dense convolution and
// BatchToSpaceND, as in tf.nn.atrous_conv2d. A grouped convolution is one convolution per group;
// above kMaxSplitGroups it is one dense convolution with zeros between the groups.
#include <algorithm>

#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/window.h"

namespace tench::tensorflow {
namespace {

// The plain convolution inside: its nodes share all of their attributes.
struct DenseConvolution {
  Dims strides;
  bool same;

  NodeDraft& Describe(NodeDraft& node) const {
    return node.Ints("strides", strides)
        .Text("data_format", "NHWC")
        .Text("padding", same ? "SAME" : "VALID");
  }

  TF_Output Forward(GraphWriter& writer, TF_Output x, TF_Output filter) const {
    NodeDraft node = writer.Add("Conv2D");
    return Describe(node.In(x).In(filter)).Output();
  }
  TF_Output InputGradient(GraphWriter& writer, const Dims& sizes, TF_Output filter,
                          TF_Output dy) const {
    const TF_Output x_sizes = writer.Integers(sizes);
    NodeDraft node = writer.Add("Conv2DBackpropInput");
    return Describe(node.In(x_sizes).In(filter).In(dy)).Output();
  }
  TF_Output FilterGradient(GraphWriter& writer, TF_Output x, const Dims& sizes,
                           TF_Output dy) const {
    const TF_Output filter_sizes = writer.Integers(sizes);
    NodeDraft node = writer.Add("Conv2DBackpropFilter");
    return Describe(node.In(x).In(filter_sizes).In(dy)).Output();
  }
};

constexpr int64_t kMaxSplitGroups = 16;

std::vector<TF_Output> SplitInto(GraphWriter& writer, TF_Output x, int64_t parts, int32_t axis) {
  const TF_Output along = writer.Scalar(axis);
  TF_Operation* node = writer.Add("Split").In(along).In(x).Int("num_split", parts).Node();
  std::vector<TF_Output> outputs;
  for (int i = 0; i < parts; ++i) outputs.push_back({node, i});
  return outputs;
}

TF_Output Join(GraphWriter& writer, const std::vector<TF_Output>& parts) {
  const TF_Output along = writer.Scalar(int32_t{3});
  return writer.Add("ConcatV2").InList(parts).In(along).Output();
}

// A grouped convolution. `filter_sizes` are those of the grouped weights.
class GroupedConvolution {
 public:
  GroupedConvolution(GraphWriter& writer, const DenseConvolution& dense, int64_t groups,
                     const Dims& filter_sizes, const Dims& x_sizes)
      : writer_(writer),
        dense_(dense),
        groups_(groups),
        filter_sizes_(filter_sizes),
        x_sizes_(x_sizes) {}

  TF_Output Forward(TF_Output x, TF_Output filter) {
    x_ = {x};
    filter_ = {filter};
    if (groups_ == 1) return dense_.Forward(writer_, x, filter);
    if (groups_ > kMaxSplitGroups) {
      mask_ = Mask();
      const TF_Output repeated =
          writer_.Add("Tile").In(filter).In(writer_.Integers({1, 1, groups_, 1})).Output();
      filter_ = {writer_.Add("Mul", "blocks").In(repeated).In(mask_).Output()};
      return dense_.Forward(writer_, x, filter_[0]);
    }
    x_ = SplitInto(writer_, x, groups_, 3);
    filter_ = SplitInto(writer_, filter, groups_, 3);
    std::vector<TF_Output> parts;
    for (size_t g = 0; g < x_.size(); ++g)
      parts.push_back(dense_.Forward(writer_, x_[g], filter_[g]));
    return Join(writer_, parts);
  }

  // The weight gradient, and the data gradient if it is needed.
  std::pair<TF_Output, TF_Output> Backward(TF_Output dy, bool to_input) {
    const bool blocks = groups_ > kMaxSplitGroups;
    const std::vector<TF_Output> dys =
        x_.size() > 1 ? SplitInto(writer_, dy, groups_, 3) : std::vector<TF_Output>{dy};
    Dims filter_sizes = filter_sizes_, x_sizes = x_sizes_;
    if (blocks) filter_sizes[2] *= groups_;
    if (x_.size() > 1) {
      filter_sizes[3] /= groups_;
      x_sizes[3] /= groups_;
    }
    std::vector<TF_Output> filters, images;
    for (size_t g = 0; g < x_.size(); ++g) {
      filters.push_back(dense_.FilterGradient(writer_, x_[g], filter_sizes, dys[g]));
      if (to_input) images.push_back(dense_.InputGradient(writer_, x_sizes, filter_[g], dys[g]));
    }
    const auto joined = [&](const std::vector<TF_Output>& parts) {
      return parts.size() > 1 ? Join(writer_, parts) : parts[0];
    };
    return {blocks ? FoldBlocks(filters[0]) : joined(filters),
            to_input ? joined(images) : TF_Output{nullptr, 0}};
  }

 private:
  // (1, 1, in, out): one where input and output channel are of the same group.
  TF_Output Mask() const {
    const int64_t in = filter_sizes_[2] * groups_, out = filter_sizes_[3];
    std::vector<float> mask(static_cast<size_t>(in * out), 0.0f);
    for (int64_t i = 0; i < in; ++i) {
      const int64_t width = out / groups_, first = i / filter_sizes_[2] * width;
      std::fill_n(mask.begin() + i * out + first, width, 1.0f);
    }
    return writer_.Constant(std::span<const float>(mask), {1, 1, in, out});
  }
  TF_Output FoldBlocks(TF_Output gradient) {
    const TF_Output masked = writer_.Add("Mul", "blocks").In(gradient).In(mask_).Output();
    const Dims& f = filter_sizes_;
    const TF_Output apart = writer_.Add("Reshape")
                                .In(masked)
                                .In(writer_.Integers({f[0], f[1], groups_, f[2], f[3]}))
                                .Output();
    return writer_.Add("Sum").In(apart).In(writer_.Integers({2})).Output();
  }

  GraphWriter& writer_;
  DenseConvolution dense_;
  int64_t groups_;
  Dims filter_sizes_, x_sizes_;
  std::vector<TF_Output> x_, filter_;
  TF_Output mask_{};
};

// The nodes around the dense convolution of a dilated one.
struct Phases {
  TF_Output block, paddings, crops;
  Dims inner_sizes;  // of the inner image
};

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

Phases CutIntoPhases(const Convolution& op, const LayerSite& site) {
  const Shape& in = site.shape(0);
  const int64_t h = in[2] + 2 * op.pad.h, w = in[3] + 2 * op.pad.w;
  const int64_t whole_h = RoundUp(h, op.dilation.h), whole_w = RoundUp(w, op.dilation.w);
  const auto pairs = [&](int64_t a, int64_t b, int64_t c, int64_t d) {
    const std::vector<int32_t> values{static_cast<int32_t>(a), static_cast<int32_t>(b),
                                      static_cast<int32_t>(c), static_cast<int32_t>(d)};
    return site.writer.Constant(std::span<const int32_t>(values), {2, 2});
  };
  return {site.writer.Integers({op.dilation.h, op.dilation.w}),
          pairs(op.pad.h, op.pad.h + whole_h - h, op.pad.w, op.pad.w + whole_w - w),
          pairs(0, whole_h - h, 0, whole_w - w),
          {in[0] * op.dilation.h * op.dilation.w, whole_h / op.dilation.h, whole_w / op.dilation.w,
           in[1]}};
}

}  // namespace

LoweredLayer LowerConvolution(const Convolution& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Shape &in = site.shape(0), &out = site.output_shape();
  const HostLayout filter_layout =
      MakeLayout({op.out_channels, in[1] / op.groups, op.kernel.h, op.kernel.w}, {2, 3, 1, 0});
  const Dims filter_sizes = filter_layout.PhysicalSizes();
  const TF_Output filter = site.Parameter(0, filter_layout);
  const bool dilated = op.dilation.h > 1 || op.dilation.w > 1;

  const Plane plane{{in[2], out[2], op.kernel.h, op.stride.h, op.pad.h},
                    {in[3], out[3], op.kernel.w, op.stride.w, op.pad.w}};
  const bool padded = !dilated && !plane.valid() && !plane.same();
  DenseConvolution dense{{1, op.stride.h, op.stride.w, 1}, !plane.valid() && plane.same()};
  Phases phases{};
  TF_Output x = site.in(0);
  Dims x_sizes{in[0], in[2], in[3], in[1]};
  if (dilated) {
    dense = {{1, 1, 1, 1}, false};
    phases = CutIntoPhases(op, site);
    x = writer.Add("SpaceToBatchND").In(x).In(phases.block).In(phases.paddings).Output();
    x_sizes = phases.inner_sizes;
  } else if (padded) {
    x = PadImage(writer, x, plane, 0);
    x_sizes = {in[0], in[2] + plane.h.before() + plane.h.behind(),
               in[3] + plane.w.before() + plane.w.behind(), in[1]};
  }
  GroupedConvolution grouped(writer, dense, op.groups, filter_sizes, x_sizes);
  const TF_Output inner = grouped.Forward(x, filter);
  TF_Output y = inner;
  if (dilated) {
    y = writer.Add("BatchToSpaceND").In(y).In(phases.block).In(phases.crops).Output();
    if (op.stride.h > 1 || op.stride.w > 1) {
      y = writer.Add("StridedSlice")
              .In(y)
              .In(writer.Integers({0, 0, 0, 0}))
              .In(writer.Integers({0, 0, 0, 0}))
              .In(writer.Integers({1, op.stride.h, op.stride.w, 1}))
              .Int("begin_mask", 15)
              .Int("end_mask", 15)
              .Output();
    }
  }
  const TF_Output unbiased = y;
  if (op.bias)
    y = writer.Add("BiasAdd")
            .In(y)
            .In(site.Parameter(1, {{op.out_channels}, {}}))
            .Text("data_format", "NHWC")
            .Output();

  LoweredLayer layer;
  layer.value = {y, UsualLayout(out)};
  const bool to_input = site.NeedsGradient(0);
  const TF_Output outside = site.in(0);
  layer.backward = [=, &writer](TF_Output dy) mutable {
    LayerGradients gradients;
    auto [d_filter, dx] =
        grouped.Backward(dilated ? writer.Gradient(unbiased, dy, inner) : dy, to_input);
    gradients.parameters.push_back(d_filter);
    if (op.bias)
      gradients.parameters.push_back(
          writer.Add("BiasAddGrad").In(dy).Text("data_format", "NHWC").Output());
    if (to_input && (dilated || padded)) dx = writer.Gradient(x, dx, outside);
    gradients.inputs = {dx};
    return gradients;
  };
  return layer;
}

}  // namespace tench::tensorflow
