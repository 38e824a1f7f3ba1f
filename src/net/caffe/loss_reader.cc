// SPDX-License-Identifier: Apache-2.0
// Converts Caffe's losses. The divisor of a loss follows Caffe: each type has its own default
// normalization, `normalize` is the deprecated spelling, and only VALID excludes samples with the
// ignored label.
#include <set>

#include "base/text.h"
#include "net/caffe/layer_reader.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

using Loss = caffe::LossParameter;

Loss::NormalizationMode ModeOf(const Loss& loss, Loss::NormalizationMode fallback) {
  if (loss.has_normalization()) return loss.normalization();
  if (loss.has_normalize()) return loss.normalize() ? Loss::VALID : Loss::BATCH_SIZE;
  return fallback;
}

Result<Op> ReadSoftmaxLoss(const caffe::LayerParameter& layer, double weight) {
  const Loss& loss = layer.loss_param();
  const Loss::NormalizationMode mode = ModeOf(loss, Loss::VALID);
  if (mode == Loss::NONE)
    return Unsupported(
        "the normalization NONE is not supported: the loss would grow with the batch");
  if (layer.softmax_param().axis() != 1)
    return Unsupported("its softmax is along axis {}; only axis 1 is supported",
                       layer.softmax_param().axis());
  SoftmaxCrossEntropy op{weight, false, {}};
  if (loss.has_ignore_label()) {
    if (mode != Loss::VALID)
      return Unsupported("with an ignore_label only the normalization VALID is supported");
    op.ignore_label = loss.ignore_label();
  }
  return Op(op);
}

Result<Op> ReadSigmoidLoss(const caffe::LayerParameter& layer, double weight, double elements) {
  const Loss& loss = layer.loss_param();
  if (loss.has_ignore_label())
    return Unsupported("an ignore_label is supported for SoftmaxWithLoss only");
  const Loss::NormalizationMode mode = ModeOf(loss, Loss::BATCH_SIZE);
  if (mode == Loss::NONE)
    return Unsupported(
        "the normalization NONE is not supported: the loss would grow with the batch");
  return Op(SigmoidCrossEntropy{mode == Loss::BATCH_SIZE ? weight : weight / elements});
}

}  // namespace

bool IsLossType(const std::string& type) {
  static const std::set<std::string> kTypes = {"EuclideanLoss", "SigmoidCrossEntropyLoss",
                                               "SoftmaxWithLoss"};
  return kTypes.contains(type);
}

Result<std::optional<Op>> ReadLoss(const caffe::LayerParameter& layer,
                                   const std::vector<Shape>& inputs) {
  if (inputs.size() != 2) return Failed("it has {} bottoms; it must have two", inputs.size());
  if (layer.loss_weight_size() > 1) {
    for (int i = 1; i < layer.loss_weight_size(); ++i)
      if (layer.loss_weight(i) != 0) return Unsupported("only its first top can be a loss");
  }
  const double weight = layer.loss_weight_size() > 0 ? DecimalOf(layer.loss_weight(0)) : 1;
  if (weight == 0) return std::optional<Op>();
  if (inputs[0].empty()) return Failed("its values are a single number");
  const double elements =
      static_cast<double>(ElementCount(inputs[0])) / static_cast<double>(inputs[0][0]);
  if (layer.type() == "SoftmaxWithLoss")
    return std::optional(TENCH_TRY(ReadSoftmaxLoss(layer, weight)));
  if (layer.type() == "SigmoidCrossEntropyLoss")
    return std::optional(TENCH_TRY(ReadSigmoidLoss(layer, weight, elements)));
  // EuclideanLoss is half the sum over a sample.
  return std::optional(Op(MeanSquaredError{weight * elements / 2}));
}

}  // namespace tench
