// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/window.h"

namespace tench::tensorflow {

namespace {

// TensorFlow's alpha is per element, and its bias is k.
NodeDraft& Describe(NodeDraft& node, const Lrn& op) {
  return node.Int("depth_radius", op.size / 2)
      .Float("bias", op.k)
      .Float("alpha", op.alpha / static_cast<double>(op.size))
      .Float("beta", op.beta);
}

// TensorFlow has no such op, so it is an average of the padded squares, as in the definition.
LoweredLayer LowerLrnWithin(const Lrn& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Shape& shape = site.shape(0);
  const Plane plane{{shape[2], shape[2], op.size, 1, op.size / 2},
                    {shape[3], shape[3], op.size, 1, op.size / 2}};
  const TF_Output x = site.in(0);
  const TF_Output squares = PadImage(writer, writer.Add("Square").In(x).Output(), plane, 0);
  const TF_Output mean = writer.Add("AvgPool")
                             .In(squares)
                             .Ints("ksize", {1, op.size, op.size, 1})
                             .Ints("strides", {1, 1, 1, 1})
                             .Text("data_format", "NHWC")
                             .Text("padding", "VALID")
                             .Output();
  const TF_Output scaled =
      writer.Add("Mul").In(mean).In(writer.Scalar(static_cast<float>(op.alpha))).Output();
  const TF_Output base =
      writer.Add("AddV2").In(scaled).In(writer.Scalar(static_cast<float>(op.k))).Output();
  const TF_Output falloff =
      writer.Add("Pow").In(base).In(writer.Scalar(static_cast<float>(-op.beta))).Output();
  LoweredLayer layer;
  layer.value = {writer.Add("Mul").In(x).In(falloff).Output(), site.input(0).layout};
  return layer;
}

}  // namespace

// TF_AddGradients drops the attributes of LRN and uses the defaults (seen in 2.21), so the gradient
// node is written here.
LoweredLayer LowerLrn(const Lrn& op, const LayerSite& site) {
  if (op.region == LrnRegion::kWithinChannel) return LowerLrnWithin(op, site);
  GraphWriter& writer = site.writer;
  const TF_Output x = site.in(0);
  NodeDraft node = writer.Add("LRN");
  const TF_Output y = Describe(node.In(x), op).Output();
  LoweredLayer layer;
  layer.value = {y, site.input(0).layout};
  layer.backward = [=, &writer](TF_Output dy) {
    NodeDraft gradient = writer.Add("LRNGrad");
    return LayerGradients{{Describe(gradient.In(dy).In(x).In(y), op).Output()}, {}};
  };
  return layer;
}

// FusedBatchNormV3 updates the running statistics (exponential_avg_factor) with the unbiased
// variance, as docs/network.md defines.
LoweredLayer LowerBatchNorm(const BatchNorm& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Shape& shape = site.shape(0);
  const HostLayout vector{{shape[1]}, {}};
  const std::vector<float> ones(static_cast<size_t>(shape[1]), 1.0f), zeros(ones.size(), 0.0f);
  const size_t statistics = op.affine ? 2 : 0;
  const TF_Output scale = op.affine ? site.Parameter(0, vector)
                                    : writer.Constant(std::span<const float>(ones), {shape[1]});
  const TF_Output shift = op.affine ? site.Parameter(1, vector)
                                    : writer.Constant(std::span<const float>(zeros), {shape[1]});
  const TF_Output mean = site.Parameter(statistics, vector),
                  variance = site.Parameter(statistics + 1, vector);
  const bool image = shape.size() == 4;
  TF_Output x = site.PlainIn(0);
  if (!image)
    x = writer.Add("Reshape", "image")
            .In(x)
            .In(writer.Integers({shape[0], 1, 1, shape[1]}))
            .Output();
  TF_Operation* norm = writer.Add("FusedBatchNormV3")
                           .In(x)
                           .In(scale)
                           .In(shift)
                           .In(mean)
                           .In(variance)
                           .Type("U", TF_FLOAT)
                           .Float("epsilon", op.eps)
                           .Float("exponential_avg_factor", site.training() ? op.momentum : 1)
                           .Text("data_format", "NHWC")
                           .Bool("is_training", site.training())
                           .Node();
  LoweredLayer layer;
  layer.value = {{norm, 0}, image ? UsualLayout(shape) : HostLayout{shape, {}}};
  if (!image)
    layer.value.output =
        writer.Add("Reshape", "vector").In({norm, 0}).In(writer.Integers(shape)).Output();
  if (site.training()) {
    for (const int statistic : {0, 1}) {
      layer.side_effects.push_back(
          writer.Add("AssignVariableOp", statistic == 0 ? "move_mean" : "move_variance")
              .In(site.ParameterVariable(statistics + static_cast<size_t>(statistic)).handle)
              .In({norm, 1 + statistic})
              .Type("dtype", TF_FLOAT)
              .Node());
    }
  }
  return layer;
}

}  // namespace tench::tensorflow
