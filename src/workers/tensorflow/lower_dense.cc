// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/parts.h"

namespace tench::tensorflow {

LoweredLayer LowerUnary(const char* type, const LayerSite& site) {
  LoweredLayer layer;
  layer.value = {site.writer.Add(type).In(site.in(0)).Output(), site.input(0).layout};
  return layer;
}

// A flattened image comes in the order H, W, C; the weights are kept in that order instead of
// moving the image.
LoweredLayer LowerFullyConnected(const FullyConnected& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const HostLayout& in = site.input(0).layout;
  const HostLayout weights =
      in.plain()
          ? MakeLayout({op.out_features, site.shape(0)[1]}, {1, 0})
          : MakeLayout({op.out_features, in.sizes[1], in.sizes[2], in.sizes[3]}, {2, 3, 1, 0});
  LoweredLayer layer;
  layer.value = {writer.Add("MatMul").In(site.in(0)).In(site.Parameter(0, weights)).Output(),
                 {site.output_shape(), {}}};
  if (op.bias)
    layer.value.output = writer.Add("BiasAdd")
                             .In(layer.value.output)
                             .In(site.Parameter(1, {{op.out_features}, {}}))
                             .Output();
  return layer;
}

LoweredLayer LowerDropout(const Dropout& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  LoweredLayer layer;
  layer.value = site.input(0);
  if (!site.training() || !site.options.dropout || op.ratio == 0) {
    layer.value.output = writer.Add("Identity").In(site.in(0)).Output();
    return layer;
  }
  const Dims dims =
      site.shape(0).size() == 2 ? site.shape(0) : site.input(0).layout.PhysicalSizes();
  // Two seeds of zero would mean a random one.
  const uint64_t seed = Hash64(fmt::format("dropout {} {}", site.options.seed, site.index()));
  const TF_Output noise = writer.Add("RandomUniform")
                              .In(writer.Integers(dims))
                              .Type("dtype", TF_FLOAT)
                              .Int("seed", static_cast<int64_t>(seed >> 33) + 1)
                              .Int("seed2", static_cast<int64_t>(seed & 0x7fffffff) + 1)
                              .Output();
  const TF_Output kept =
      writer.Add("GreaterEqual").In(noise).In(writer.Scalar(static_cast<float>(op.ratio))).Output();
  const TF_Output mask = writer.Add("Mul", "mask")
                             .In(writer.Add("Cast").In(kept).Type("DstT", TF_FLOAT).Output())
                             .In(writer.Scalar(static_cast<float>(1 / (1 - op.ratio))))
                             .Output();
  layer.value.output = writer.Add("Mul").In(site.in(0)).In(mask).Output();
  layer.backward = [=, &writer](TF_Output dy) {
    return LayerGradients{{writer.Add("Mul").In(dy).In(mask).Output()}, {}};
  };
  return layer;
}

LoweredLayer LowerConcat(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  const size_t axis = site.output_shape().size() == 4 ? 3 : 1;
  LoweredLayer layer;
  layer.value = {writer.Add("ConcatV2")
                     .InList(parts.inside)
                     .In(writer.Scalar(static_cast<int32_t>(axis)))
                     .Output(),
                 UsualLayout(site.output_shape())};
  std::vector<Dims> sizes;
  for (size_t i = 0; i < site.inputs(); ++i)
    sizes.push_back(UsualLayout(site.shape(i)).PhysicalSizes());
  layer.backward = [=, &writer](TF_Output dy) {
    LayerGradients gradients;
    Dims begin(sizes[0].size(), 0);
    for (size_t i = 0; i < sizes.size(); ++i) {
      TF_Output part{nullptr, 0};
      if (parts.needed[i]) {
        const TF_Output from = writer.Integers(begin), extent = writer.Integers(sizes[i]);
        part = parts.Outward(writer, i, writer.Add("Slice").In(dy).In(from).In(extent).Output());
      }
      gradients.inputs.push_back(part);
      begin[axis] += sizes[i][axis];
    }
    return gradients;
  };
  return layer;
}

LoweredLayer LowerAdd(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Parts parts(site);
  LoweredLayer layer;
  layer.value.layout = UsualLayout(site.output_shape());
  layer.value.output = parts.inside.size() == 2
                           ? writer.Add("AddV2").In(parts.inside[0]).In(parts.inside[1]).Output()
                           : writer.Add("AddN").InList(parts.inside).Output();
  layer.backward = [=, &writer](TF_Output dy) {
    LayerGradients gradients;
    for (size_t i = 0; i < parts.inside.size(); ++i)
      gradients.inputs.push_back(parts.needed[i] ? parts.Outward(writer, i, dy)
                                                 : TF_Output{nullptr, 0});
    return gradients;
  };
  return layer;
}

LoweredLayer LowerFlatten(const LayerSite& site) {
  LoweredLayer layer;
  const HostLayout& in = site.input(0).layout;
  const bool moved = !in.plain() && site.shape(0).size() == 4;
  layer.value.output = site.writer.Add("Reshape")
                           .In(site.in(0))
                           .In(site.writer.Integers(site.output_shape()))
                           .Output();
  // An image keeps its order; a flat tensor keeps its order too.
  layer.value.layout = moved || (!in.plain() && site.shape(0).size() == 2)
                           ? in
                           : HostLayout{site.output_shape(), {}};
  return layer;
}

}  // namespace tench::tensorflow
