// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/layer_writer.h"

#include <cmath>

#include "net/op_parameters.h"
#include "net/op_traits.h"

namespace tench {
namespace {

float Narrow(double value) { return static_cast<float>(value); }

void WriteRule(const ParameterRule& rule, caffe::LayerParameter& to) {
  caffe::ParamSpec* spec = to.add_param();
  spec->set_lr_mult(Narrow(rule.lr_mult));
  spec->set_decay_mult(Narrow(rule.decay_mult));
}

// Omitted if all multipliers have the default value 1.
void WriteRules(const Layer& layer, caffe::LayerParameter& to) {
  const auto usual = [](const ParameterRule& rule) {
    return rule.lr_mult == 1 && rule.decay_mult == 1;
  };
  const bool bias = HasBias(layer.op);
  if (usual(layer.weight) && (!bias || usual(layer.bias))) return;
  WriteRule(layer.weight, to);
  if (bias) WriteRule(layer.bias, to);
}

Status WriteFillers(const Layer& layer, caffe::FillerParameter& weight,
                    caffe::FillerParameter* bias) {
  TENCH_TRY(WriteFiller(layer.weight.fill, weight).In("weight"));
  if (bias != nullptr) TENCH_TRY(WriteFiller(layer.bias.fill, *bias).In("bias"));
  return Ok();
}

Status Write(const Convolution& op, const Layer& layer, caffe::LayerParameter& to) {
  to.set_type("Convolution");
  caffe::ConvolutionParameter& conv = *to.mutable_convolution_param();
  conv.set_num_output(static_cast<uint32_t>(op.out_channels));
  const auto size = [](int64_t value) { return static_cast<uint32_t>(value); };
  if (op.kernel.h == op.kernel.w) {
    conv.add_kernel_size(size(op.kernel.h));
  } else {
    conv.set_kernel_h(size(op.kernel.h)), conv.set_kernel_w(size(op.kernel.w));
  }
  if (op.stride.h != op.stride.w) {
    conv.set_stride_h(size(op.stride.h)), conv.set_stride_w(size(op.stride.w));
  } else if (op.stride.h != 1) {
    conv.add_stride(size(op.stride.h));
  }
  if (op.pad.h != op.pad.w) {
    conv.set_pad_h(size(op.pad.h)), conv.set_pad_w(size(op.pad.w));
  } else if (op.pad.h != 0) {
    conv.add_pad(size(op.pad.h));
  }
  if (op.dilation.h != op.dilation.w) {
    conv.add_dilation(size(op.dilation.h)), conv.add_dilation(size(op.dilation.w));
  } else if (op.dilation.h != 1) {
    conv.add_dilation(size(op.dilation.h));
  }
  if (op.groups != 1) conv.set_group(size(op.groups));
  if (!op.bias) conv.set_bias_term(false);
  WriteRules(layer, to);
  return WriteFillers(layer, *conv.mutable_weight_filler(),
                      op.bias ? conv.mutable_bias_filler() : nullptr);
}

Status Write(const FullyConnected& op, const Layer& layer, caffe::LayerParameter& to) {
  to.set_type("InnerProduct");
  caffe::InnerProductParameter& fc = *to.mutable_inner_product_param();
  fc.set_num_output(static_cast<uint32_t>(op.out_features));
  if (!op.bias) fc.set_bias_term(false);
  WriteRules(layer, to);
  return WriteFillers(layer, *fc.mutable_weight_filler(),
                      op.bias ? fc.mutable_bias_filler() : nullptr);
}

void Write(const Pooling& op, const Shape& input, caffe::LayerParameter& to) {
  to.set_type("Pooling");
  caffe::PoolingParameter& pool = *to.mutable_pooling_param();
  pool.set_pool(op.mode == PoolMode::kMax ? caffe::PoolingParameter::MAX
                                          : caffe::PoolingParameter::AVE);
  if (op.global) {
    pool.set_global_pooling(true);
    return;
  }
  const auto size = [](int64_t value) { return static_cast<uint32_t>(value); };
  if (op.kernel.h == op.kernel.w) {
    pool.set_kernel_size(size(op.kernel.h));
  } else {
    pool.set_kernel_h(size(op.kernel.h)), pool.set_kernel_w(size(op.kernel.w));
  }
  if (op.stride.h != op.stride.w) {
    pool.set_stride_h(size(op.stride.h)), pool.set_stride_w(size(op.stride.w));
  } else if (op.stride.h != 1) {
    pool.set_stride(size(op.stride.h));
  }
  if (op.pad.h != op.pad.w) {
    pool.set_pad_h(size(op.pad.h)), pool.set_pad_w(size(op.pad.w));
  } else if (op.pad.h != 0) {
    pool.set_pad(size(op.pad.h));
  }
  // Caffe before 2018 lacks round_mode, so it is written only where it changes the size.
  if (!op.ceil_mode && !RoundingIsIdle(op, input))
    pool.set_round_mode(caffe::PoolingParameter::FLOOR);
}

Status Write(const Lrn& op, caffe::LayerParameter& to) {
  to.set_type("LRN");
  caffe::LRNParameter& lrn = *to.mutable_lrn_param();
  lrn.set_local_size(static_cast<uint32_t>(op.size));
  lrn.set_alpha(Narrow(op.alpha));
  lrn.set_beta(Narrow(op.beta));
  if (op.k != 1) lrn.set_k(Narrow(op.k));
  if (op.region == LrnRegion::kAcrossChannels) return Ok();
  if (op.k != 1) return Unsupported("Caffe's LRN within a channel has no k");
  lrn.set_norm_region(caffe::LRNParameter::WITHIN_CHANNEL);
  return Ok();
}

Status Write(const Scale& op, const Layer& layer, caffe::LayerParameter& to) {
  to.set_type("Scale");
  caffe::ScaleParameter& scale = *to.mutable_scale_param();
  if (op.bias) scale.set_bias_term(true);
  WriteRules(layer, to);
  return WriteFillers(layer, *scale.mutable_filler(),
                      op.bias ? scale.mutable_bias_filler() : nullptr);
}

void Write(const Power& op, caffe::LayerParameter& to) {
  to.set_type("Power");
  to.mutable_power_param()->set_power(Narrow(op.power));
  to.mutable_power_param()->set_scale(Narrow(op.scale));
  to.mutable_power_param()->set_shift(Narrow(op.shift));
}

void Write(const Reshape& op, caffe::LayerParameter& to) {
  to.set_type("Reshape");
  caffe::BlobShape& shape = *to.mutable_reshape_param()->mutable_shape();
  shape.add_dim(0);  // keeps the batch
  for (const int64_t size : op.shape) shape.add_dim(size);
}

void WriteEltwise(caffe::EltwiseParameter::EltwiseOp operation, caffe::LayerParameter& to) {
  to.set_type("Eltwise");
  to.mutable_eltwise_param()->set_operation(operation);
}

void WriteLoss(const char* type, double weight, caffe::LayerParameter& to) {
  to.set_type(type);
  if (weight != 1) to.add_loss_weight(Narrow(weight));
}

Status Plain(const char* type, caffe::LayerParameter& to) {
  to.set_type(type);
  return Ok();
}

}  // namespace

Status WriteFiller(const Fill& fill, caffe::FillerParameter& to) {
  switch (fill.kind) {
    case FillKind::kConstant:
      to.set_type("constant");
      if (fill.a != 0) to.set_value(Narrow(fill.a));
      return Ok();
    case FillKind::kUniform:
      to.set_type("uniform");
      to.set_min(Narrow(fill.a));
      to.set_max(Narrow(fill.b));
      return Ok();
    case FillKind::kGaussian:
      to.set_type("gaussian");
      if (fill.a != 0) to.set_mean(Narrow(fill.a));
      to.set_std(Narrow(fill.b));
      return Ok();
    case FillKind::kXavier:
      to.set_type("xavier");
      return Ok();
    case FillKind::kMsra:
      to.set_type("msra");
      return Ok();
    case FillKind::kMsraFanOut:
      to.set_type("msra");
      to.set_variance_norm(caffe::FillerParameter::FAN_OUT);
      return Ok();
    case FillKind::kInteger:
      break;
  }
  return Unsupported("Caffe has no integer filler");
}

bool RoundingIsIdle(const Pooling& op, const Shape& input) {
  const auto idle = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
    return (size + 2 * pad - kernel) % stride == 0;
  };
  return idle(input[2], op.kernel.h, op.stride.h, op.pad.h) &&
         idle(input[3], op.kernel.w, op.stride.w, op.pad.w);
}

Status WriteOp(const TypedGraph& graph, size_t index, caffe::LayerParameter& to) {
  const Layer& layer = graph.layers[index].layer;
  const auto done = [] { return Ok(); };
  return std::visit(
      Overload{[&](const Convolution& op) -> Status { return Write(op, layer, to); },
               [&](const FullyConnected& op) -> Status { return Write(op, layer, to); },
               [&](const Pooling& op) -> Status {
                 return Write(op, graph.InputType(index, 0).shape, to), done();
               },
               [&](const Lrn& op) -> Status { return Write(op, to); },
               [&](const Scale& op) -> Status { return Write(op, layer, to); },
               [&](const Power& op) -> Status { return Write(op, to), done(); },
               [&](const Reshape& op) -> Status { return Write(op, to), done(); },
               [&](const Relu& op) -> Status {
                 if (op.negative_slope != 0)
                   to.mutable_relu_param()->set_negative_slope(Narrow(op.negative_slope));
                 return Plain("ReLU", to);
               },
               [&](const Softmax&) -> Status { return Plain("Softmax", to); },
               [&](const Sigmoid&) -> Status { return Plain("Sigmoid", to); },
               [&](const Tanh&) -> Status { return Plain("TanH", to); },
               [&](const Concat&) -> Status { return Plain("Concat", to); },
               [&](const Flatten&) -> Status { return Plain("Flatten", to); },
               [&](const Dropout& op) -> Status {
                 to.mutable_dropout_param()->set_dropout_ratio(Narrow(op.ratio));
                 return Plain("Dropout", to);
               },
               [&](const Add& op) -> Status {
                 WriteEltwise(caffe::EltwiseParameter::SUM, to);
                 for (const double each : op.coefficients)
                   to.mutable_eltwise_param()->add_coeff(Narrow(each));
                 return Ok();
               },
               [&](const Multiply&) -> Status {
                 return WriteEltwise(caffe::EltwiseParameter::PROD, to), done();
               },
               [&](const Maximum&) -> Status {
                 return WriteEltwise(caffe::EltwiseParameter::MAX, to), done();
               },
               [&](const SoftmaxCrossEntropy& op) -> Status {
                 if (op.ignore_label)
                   to.mutable_loss_param()->set_ignore_label(
                       static_cast<int32_t>(*op.ignore_label));
                 return WriteLoss("SoftmaxWithLoss", op.loss_weight, to), done();
               },
               [&](const SigmoidCrossEntropy& op) -> Status {
                 return WriteLoss("SigmoidCrossEntropyLoss", op.loss_weight, to), done();
               },
               [&](const MeanSquaredError& op) -> Status {
                 // EuclideanLoss is half the sum over a sample.
                 const Shape& shape = graph.InputType(index, 0).shape;
                 const double elements =
                     static_cast<double>(ElementCount(shape)) / static_cast<double>(shape[0]);
                 return WriteLoss("EuclideanLoss", op.loss_weight * 2 / elements, to), done();
               },
               [&](const AnyOf<Input, Slice, BatchNorm, Embedding, Lstm, MeanOverTime> auto& op)
                   -> Status {
                 return Unsupported("Caffe has no layer for the op '{}'", OpName(Op(op)));
               }},
      layer.op);
}

void WriteBatchNorm(const Layer& layer, caffe::LayerParameter& norm, caffe::LayerParameter& scale) {
  const BatchNorm& op = std::get<BatchNorm>(layer.op);
  norm.set_type("BatchNorm");
  norm.mutable_batch_norm_param()->set_moving_average_fraction(Narrow(1 - op.momentum));
  norm.mutable_batch_norm_param()->set_eps(Narrow(op.eps));
  if (!op.affine) return;
  Check(Write(Scale{}, layer, scale).ok(), "Infer rejects integer fills of a batch norm");
}

}  // namespace tench
