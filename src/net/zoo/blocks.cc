// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/blocks.h"

namespace tench {

Fill Constant(double value) { return {FillKind::kConstant, value, 0}; }
Fill Uniform(double low, double high) { return {FillKind::kUniform, low, high}; }
Fill Gaussian(double deviation) { return {FillKind::kGaussian, 0, deviation}; }
Fill Xavier() { return {FillKind::kXavier, 0, 0}; }
Fill Msra() { return {FillKind::kMsra, 0, 0}; }
Fill MsraFanOut() { return {FillKind::kMsraFanOut, 0, 0}; }

Rules CaffeRules(const Fill& weight, double bias, double bias_decay) {
  return {.weight = {weight, 1, 1}, .bias = {Constant(bias), 2, bias_decay}};
}

Rules PlainRules(const Fill& weight) {
  return {.weight = {weight, 1, 1}, .bias = {Constant(0), 1, 1}};
}

Convolution Conv(int64_t out_channels, int64_t kernel, int64_t stride, int64_t pad,
                 int64_t groups) {
  Convolution conv;
  conv.out_channels = out_channels;
  conv.kernel = {kernel, kernel};
  conv.stride = {stride, stride};
  conv.pad = {pad, pad};
  conv.groups = groups;
  return conv;
}

static Pooling Pool(PoolMode mode, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode) {
  Pooling pool;
  pool.mode = mode;
  pool.kernel = {kernel, kernel};
  pool.stride = {stride, stride};
  pool.pad = {pad, pad};
  pool.ceil_mode = ceil_mode;
  return pool;
}

Pooling MaxPool(int64_t kernel, int64_t stride, int64_t pad) {
  return Pool(PoolMode::kMax, kernel, stride, pad, false);
}
Pooling CaffeMaxPool(int64_t kernel, int64_t stride) {
  return Pool(PoolMode::kMax, kernel, stride, 0, true);
}
Pooling AvgPool(int64_t kernel, int64_t stride) {
  return Pool(PoolMode::kAvg, kernel, stride, 0, false);
}

Pooling GlobalAvgPool() {
  Pooling pool;
  pool.mode = PoolMode::kAvg;
  pool.global = true;
  return pool;
}

void AppendImages(GraphBuilder& builder, const Shape& image, int64_t classes) {
  builder.Append("data", Input{InputRole::kData, image, Gaussian(1)}, {});
  builder.Append(
      "label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}},
      {});
}

Shape ImageShape(const InputSpec& spec) { return {spec.channels, spec.height, spec.width}; }

bool IsSmall(const InputSpec& spec) { return spec.height < 64; }

std::string ConvRelu(GraphBuilder& builder, const std::string& name, const std::string& relu_name,
                     const Convolution& conv, const std::string& input, const Rules& rules) {
  builder.Append(name, conv, {input}, rules.weight, rules.bias);
  return builder.Append(relu_name, Relu{}, {name});
}

std::string FcRelu(GraphBuilder& builder, const std::string& name, const std::string& relu_name,
                   int64_t features, const std::string& input, const Rules& rules) {
  return builder.Append(relu_name, Relu{}, {Fc(builder, name, features, input, rules)});
}

std::string Fc(GraphBuilder& builder, const std::string& name, int64_t features,
               const std::string& input, const Rules& rules) {
  FullyConnected fc;
  fc.out_features = features;
  return builder.Append(name, fc, {input}, rules.weight, rules.bias);
}

}  // namespace tench
