// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/lowering.h"

namespace tench::tensorflow {
namespace {

TF_Output Scaled(GraphWriter& writer, TF_Output x, double factor) {
  return factor == 1 ? x
                     : writer.Add("Mul", "weighted")
                           .In(x)
                           .In(writer.Scalar(static_cast<float>(factor)))
                           .Output();
}

TF_Output OverAll(GraphWriter& writer, const char* type, TF_Output x, size_t rank) {
  Dims axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return writer.Add(type).In(x).In(writer.Integers(axes)).Output();
}

LoweredLayer Scalar(TF_Output loss) {
  LoweredLayer layer;
  layer.value = {loss, {}};
  return layer;
}

}  // namespace

namespace {

// Ignored labels become class 0, which is valid, and their samples get the weight 0.
LoweredLayer LowerIgnoring(const SoftmaxCrossEntropy& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const TF_Output scores = site.PlainIn(0), outside = site.in(0), labels = site.in(1);
  const auto ignored = static_cast<int32_t>(*op.ignore_label);
  const TF_Output counts = writer.Add("NotEqual").In(labels).In(writer.Scalar(ignored)).Output();
  const TF_Output classes =
      writer.Add("SelectV2").In(counts).In(labels).In(writer.Scalar(int32_t{0})).Output();
  const TF_Output weights = writer.Add("Cast").In(counts).Type("DstT", TF_FLOAT).Output();
  const TF_Output counted =
      writer.Add("Maximum").In(OverAll(writer, "Sum", weights, 1)).In(writer.Scalar(1.0f)).Output();
  const TF_Output shares =
      writer.Add("RealDiv").In(Scaled(writer, weights, op.loss_weight)).In(counted).Output();
  TF_Operation* node =
      writer.Add("SparseSoftmaxCrossEntropyWithLogits").In(scores).In(classes).Node();
  LoweredLayer layer =
      Scalar(OverAll(writer, "Sum", writer.Add("Mul").In({node, 0}).In(shares).Output(), 1));
  layer.backward = [=, &writer, batch = site.shape(0)[0]](TF_Output) {
    const TF_Output column =
        writer.Add("Reshape").In(shares).In(writer.Integers({batch, 1})).Output();
    TF_Output gradient = writer.Add("Mul").In({node, 1}).In(column).Output();
    if (scores.oper != outside.oper) gradient = writer.Gradient(scores, gradient, outside);
    return LayerGradients{{gradient, {nullptr, 0}}, {}};
  };
  return layer;
}

}  // namespace

// The sparse cross-entropy node computes its gradient together with the loss; TF_AddGradients in
// C++ lacks it.
LoweredLayer LowerSoftmaxCrossEntropy(const SoftmaxCrossEntropy& op, const LayerSite& site) {
  if (op.ignore_label) return LowerIgnoring(op, site);
  GraphWriter& writer = site.writer;
  const TF_Output scores = site.PlainIn(0), outside = site.in(0);
  TF_Operation* node =
      writer.Add("SparseSoftmaxCrossEntropyWithLogits").In(scores).In(site.in(1)).Node();
  LoweredLayer layer =
      Scalar(Scaled(writer, OverAll(writer, "Mean", {node, 0}, 1), op.loss_weight));
  const double share = op.loss_weight / static_cast<double>(site.shape(0)[0]);
  layer.backward = [=, &writer](TF_Output) {
    TF_Output gradient = Scaled(writer, {node, 1}, share);
    if (scores.oper != outside.oper) gradient = writer.Gradient(scores, gradient, outside);
    return LayerGradients{{gradient, {nullptr, 0}}, {}};
  };
  return layer;
}

// softplus(x) - x·z is the cross-entropy of sigmoid(x) and z, and TensorFlow's softplus does not
// overflow.
LoweredLayer LowerSigmoidCrossEntropy(const SigmoidCrossEntropy& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const TF_Output x = site.PlainIn(0), z = site.PlainIn(1);
  const TF_Output product = writer.Add("Mul").In(x).In(z).Output();
  const TF_Output each =
      writer.Add("Sub").In(writer.Add("Softplus").In(x).Output()).In(product).Output();
  return Scalar(Scaled(writer, OverAll(writer, "Sum", each, site.shape(0).size()),
                       op.loss_weight / static_cast<double>(site.shape(0)[0])));
}

LoweredLayer LowerMeanSquaredError(const MeanSquaredError& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const TF_Output each =
      writer.Add("SquaredDifference").In(site.PlainIn(0)).In(site.PlainIn(1)).Output();
  return Scalar(
      Scaled(writer, OverAll(writer, "Mean", each, site.shape(0).size()), op.loss_weight));
}

}  // namespace tench::tensorflow
