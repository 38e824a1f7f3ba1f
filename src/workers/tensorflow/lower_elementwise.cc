// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, slices and reshapes. The gradient nodes are those that TensorFlow's Python
// writes: TF_AddGradients lacks some of these ops in C++.
#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/parts.h"

namespace tench::tensorflow {
namespace {

constexpr TF_Output kNone{nullptr, 0};

TF_Output Times(GraphWriter& writer, TF_Output x, double factor) {
  return factor == 1
             ? x
             : writer.Add("Mul").In(x).In(writer.Scalar(static_cast<float>(factor))).Output();
}

TF_Output Plus(GraphWriter& writer, TF_Output x, double term) {
  return term == 0 ? x
                   : writer.Add("AddV2").In(x).In(writer.Scalar(static_cast<float>(term))).Output();
}

TF_Output ToPower(GraphWriter& writer, TF_Output base, double power) {
  if (power == 1) return base;
  if (power == 2) return writer.Add("Square").In(base).Output();
  return writer.Add("Pow").In(base).In(writer.Scalar(static_cast<float>(power))).Output();
}

}  // namespace

LoweredLayer LowerLeakyRelu(const Relu& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const TF_Output x = site.in(0);
  LoweredLayer layer;
  layer.value = {writer.Add("LeakyRelu").In(x).Float("alpha", op.negative_slope).Output(),
                 site.input(0).layout};
  layer.backward = [=, &writer](TF_Output dy) {
    return LayerGradients{
        {writer.Add("LeakyReluGrad").In(dy).In(x).Float("alpha", op.negative_slope).Output()}, {}};
  };
  return layer;
}

LoweredLayer LowerPower(const Power& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const TF_Output x = site.in(0);
  const TF_Output base = Plus(writer, Times(writer, x, op.scale), op.shift);
  LoweredLayer layer;
  // Always a separate node, even for the identity.
  layer.value = {writer.Add("Identity").In(ToPower(writer, base, op.power)).Output(),
                 site.input(0).layout};
  layer.backward = [=, &writer](TF_Output dy) {
    if (op.power * op.scale == 0)
      return LayerGradients{{writer.Add("ZerosLike").In(dy).Output()}, {}};
    TF_Output dx = Times(writer, dy, op.power * op.scale);
    if (op.power != 1)
      dx = writer.Add("Mul").In(dx).In(ToPower(writer, base, op.power - 1)).Output();
    return LayerGradients{{writer.Add("Identity").In(dx).Output()}, {}};
  };
  return layer;
}

LoweredLayer LowerWeightedSum(const Add& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  std::vector<TF_Output> terms;
  for (size_t i = 0; i < parts.inside.size(); ++i)
    terms.push_back(Times(writer, parts.inside[i], op.coefficients[i]));
  LoweredLayer layer;
  layer.value = {writer.Add("AddN").InList(terms).Output(), UsualLayout(site.output_shape())};
  layer.backward = [=, &writer](TF_Output dy) {
    LayerGradients gradients;
    for (size_t i = 0; i < parts.inside.size(); ++i)
      gradients.inputs.push_back(
          parts.needed[i] ? parts.Outward(writer, i, Times(writer, dy, op.coefficients[i]))
                          : kNone);
    return gradients;
  };
  return layer;
}

LoweredLayer LowerProduct(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  TF_Output product = parts.inside[0];
  for (size_t i = 1; i < parts.inside.size(); ++i)
    product = writer.Add("Mul").In(product).In(parts.inside[i]).Output();
  LoweredLayer layer;
  layer.value = {product, UsualLayout(site.output_shape())};
  layer.backward = [=, &writer](TF_Output dy) {
    LayerGradients gradients;
    for (size_t i = 0; i < parts.inside.size(); ++i) {
      TF_Output dx = dy;
      for (size_t k = 0; k < parts.inside.size() && parts.needed[i]; ++k) {
        if (k != i) dx = writer.Add("Mul").In(dx).In(parts.inside[k]).Output();
      }
      gradients.inputs.push_back(parts.needed[i] ? parts.Outward(writer, i, dx) : kNone);
    }
    return gradients;
  };
  return layer;
}

// Pairwise from the first input on; among equal inputs the earlier gets the gradient.
LoweredLayer LowerMaximum(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  std::vector<TF_Output> largest = {parts.inside[0]};
  for (size_t i = 1; i < parts.inside.size(); ++i)
    largest.push_back(writer.Add("Maximum").In(largest.back()).In(parts.inside[i]).Output());
  LoweredLayer layer;
  layer.value = {largest.back(), UsualLayout(site.output_shape())};
  layer.backward = [=, &writer](TF_Output dy) {
    LayerGradients gradients;
    gradients.inputs.assign(parts.inside.size(), kNone);
    const TF_Output zeros = writer.Add("ZerosLike").In(dy).Output();
    for (size_t i = parts.inside.size(); i-- > 1;) {
      const TF_Output earlier =
          writer.Add("GreaterEqual").In(largest[i - 1]).In(parts.inside[i]).Output();
      if (parts.needed[i])
        gradients.inputs[i] =
            parts.Outward(writer, i, writer.Add("SelectV2").In(earlier).In(zeros).In(dy).Output());
      dy = writer.Add("SelectV2").In(earlier).In(dy).In(zeros).Output();
    }
    if (parts.needed[0]) gradients.inputs[0] = parts.Outward(writer, 0, dy);
    return gradients;
  };
  return layer;
}

LoweredLayer LowerSlice(const Slice& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  const size_t rank = site.output_shape().size(), axis = rank == 4 ? 3 : 1;
  const Dims size = UsualLayout(site.output_shape()).PhysicalSizes();
  Dims begin(rank, 0);
  begin[axis] = op.begin;
  LoweredLayer layer;
  layer.value = {writer.Add("Slice")
                     .In(parts.inside[0])
                     .In(writer.Integers(begin))
                     .In(writer.Integers(size))
                     .Output(),
                 UsualLayout(site.output_shape())};
  std::vector<int32_t> widths(2 * rank, 0);
  widths[2 * axis] = static_cast<int32_t>(op.begin);
  widths[2 * axis + 1] = static_cast<int32_t>(site.shape(0)[1] - op.end);
  layer.backward = [=, &writer](TF_Output dy) {
    const TF_Output paddings =
        writer.Constant(std::span<const int32_t>(widths), {static_cast<int64_t>(rank), 2});
    return LayerGradients{
        {parts.Outward(writer, 0, writer.Add("Pad").In(dy).In(paddings).Output())}, {}};
  };
  return layer;
}

// Elements keep their logical order, so images are transposed to it before and from it after.
LoweredLayer LowerReshape(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Shape& out = site.output_shape();
  TF_Output value = site.PlainIn(0);
  if (site.shape(0).size() == 4 && !site.input(0).layout.plain())
    value = writer.Add("Transpose", "logical").In(value).In(writer.Integers({0, 3, 1, 2})).Output();
  value = writer.Add("Reshape").In(value).In(writer.Integers(out)).Output();
  if (out.size() == 4)
    value = writer.Add("Transpose", "image").In(value).In(writer.Integers({0, 2, 3, 1})).Output();
  LoweredLayer layer;
  layer.value = {value, UsualLayout(out)};
  return layer;
}

// Channels are the last dimension, also of vectors.
LoweredLayer LowerSoftmax(const LayerSite& site) {
  LoweredLayer layer;
  layer.value = {site.writer.Add("Softmax").In(site.PlainIn(0)).Output(),
                 UsualLayout(site.output_shape())};
  return layer;
}

LoweredLayer LowerScale(const Scale& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  const TF_Output x = parts.inside[0];
  const HostLayout vector{{site.shape(0)[1]}, {}};
  const TF_Output weight = site.Parameter(0, vector);
  LoweredLayer layer;
  layer.value = {writer.Add("Mul").In(x).In(weight).Output(), UsualLayout(site.output_shape())};
  if (op.bias)
    layer.value.output =
        writer.Add("BiasAdd").In(layer.value.output).In(site.Parameter(1, vector)).Output();
  Dims axes;
  for (size_t i = 0; i + 1 < site.shape(0).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  layer.backward = [=, &writer](TF_Output dy) {
    LayerGradients gradients;
    const TF_Output products = writer.Add("Mul").In(dy).In(x).Output();
    gradients.parameters.push_back(
        writer.Add("Sum").In(products).In(writer.Integers(axes)).Output());
    if (op.bias) gradients.parameters.push_back(writer.Add("BiasAddGrad").In(dy).Output());
    gradients.inputs.push_back(
        parts.needed[0] ? parts.Outward(writer, 0, writer.Add("Mul").In(dy).In(weight).Output())
                        : kNone);
    return gradients;
  };
  return layer;
}

}  // namespace tench::tensorflow
