// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words in which the families are written: fills, Caffe's learning rules, square windows and
// the inputs of an image classifier. Private to this folder.

#include <cstdint>
#include <string>

#include "net/builder.h"
#include "net/zoo/zoo.h"

namespace tench {

Fill Constant(double value);
Fill Uniform(double low, double high);
Fill Gaussian(double deviation);
Fill Xavier();
Fill Msra();
Fill MsraFanOut();

// How both parameters of a layer begin and learn.
struct Rules {
  ParameterRule weight, bias;
};
// As in Caffe's reference networks: a bias learns twice as fast as its weights; `bias_decay` is its
// decay_mult.
Rules CaffeRules(const Fill& weight, double bias, double bias_decay);
// Weights and bias learn and decay alike; the bias begins at zero.
Rules PlainRules(const Fill& weight);

// Square windows: the zoo has no others.
Convolution Conv(int64_t out_channels, int64_t kernel, int64_t stride = 1, int64_t pad = 0,
                 int64_t groups = 1);
Pooling MaxPool(int64_t kernel, int64_t stride, int64_t pad = 0);
Pooling CaffeMaxPool(int64_t kernel,
                     int64_t stride);  // rounds its output size up, as every pool of Caffe
Pooling AvgPool(int64_t kernel, int64_t stride);
Pooling GlobalAvgPool();

// Layers "data" (Gaussian pixels) and "label".
void AppendImages(GraphBuilder& builder, const Shape& image, int64_t classes);
Shape ImageShape(const InputSpec& spec);
bool IsSmall(const InputSpec& spec);  // images of below 64 pixels

// The layers NAME and RELU_NAME; returns the latter.
std::string ConvRelu(GraphBuilder& builder, const std::string& name, const std::string& relu_name,
                     const Convolution& conv, const std::string& input, const Rules& rules);
std::string FcRelu(GraphBuilder& builder, const std::string& name, const std::string& relu_name,
                   int64_t features, const std::string& input, const Rules& rules);
std::string Fc(GraphBuilder& builder, const std::string& name, int64_t features,
               const std::string& input, const Rules& rules);

}  // namespace tench
