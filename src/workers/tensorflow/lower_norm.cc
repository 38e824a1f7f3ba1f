// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/lowering.h"

namespace tench::tensorflow {

namespace {

// TensorFlow's alpha is that of one element, and its bias is k.
NodeDraft& Describe(NodeDraft& node, const Lrn& op) {
  return node.Int("depth_radius", op.size / 2)
      .Float("bias", op.k)
      .Float("alpha", op.alpha / static_cast<double>(op.size))
      .Float("beta", op.beta);
}

}  // namespace

// The gradient node is written here: C++'s TF_AddGradients forgets the settings and takes the defaults (seen in 2.21).
LoweredLayer LowerLrn(const Lrn& op, const LayerSite& site) {
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

// FusedBatchNormV3 moves the running statistics itself (exponential_avg_factor), with the unbiased variance, as
// network.md has it.
LoweredLayer LowerBatchNorm(const BatchNorm& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Shape& shape = site.shape(0);
  const HostLayout vector{{shape[1]}, {}};
  const TF_Output scale = site.Parameter(0, vector), shift = site.Parameter(1, vector);
  const TF_Output mean = site.Parameter(2, vector), variance = site.Parameter(3, vector);
  const bool image = shape.size() == 4;
  TF_Output x = site.PlainIn(0);
  if (!image) x = writer.Add("Reshape", "image").In(x).In(writer.Integers({shape[0], 1, 1, shape[1]})).Output();
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
  if (!image) layer.value.output = writer.Add("Reshape", "vector").In({norm, 0}).In(writer.Integers(shape)).Output();
  if (site.training()) {
    for (const int statistic : {0, 1}) {
      layer.side_effects.push_back(writer.Add("AssignVariableOp", statistic == 0 ? "move_mean" : "move_variance")
                                       .In(site.ParameterVariable(static_cast<size_t>(2 + statistic)).handle)
                                       .In({norm, 1 + statistic})
                                       .Type("dtype", TF_FLOAT)
                                       .Node());
    }
  }
  return layer;
}

}  // namespace tench::tensorflow
