// SPDX-License-Identifier: Apache-2.0
#pragma once
// Building blocks of the zoo: fills, Caffe's learning-rate multipliers, square windows and the
// inputs of an image classifier. Private to this folder.

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

// The rules of a layer's weights and bias.
struct Rules {
  ParameterRule weight, bias;
};
// As in Caffe's reference networks: the bias has lr_mult 2 and decay_mult `bias_decay`.
Rules CaffeRules(const Fill& weight, double bias, double bias_decay);
// All multipliers are 1; the bias starts at zero.
Rules PlainRules(const Fill& weight);

// Square windows.
Convolution Conv(int64_t out_channels, int64_t kernel, int64_t stride = 1, int64_t pad = 0,
                 int64_t groups = 1);
Pooling MaxPool(int64_t kernel, int64_t stride, int64_t pad = 0);
// Ceil mode, as in Caffe.
Pooling CaffeMaxPool(int64_t kernel, int64_t stride);
Pooling AvgPool(int64_t kernel, int64_t stride);
Pooling GlobalAvgPool();

// Layers "data" (Gaussian pixels) and "label".
void AppendImages(GraphBuilder& builder, const Shape& image, int64_t classes);
Shape ImageShape(const InputSpec& spec);
bool IsSmall(const InputSpec& spec);  // images smaller than 64 pixels

// Appends the layers NAME and RELU_NAME; returns the latter.
std::string ConvRelu(GraphBuilder& builder, const std::string& name, const std::string& relu_name,
                     const Convolution& conv, const std::string& input, const Rules& rules);
std::string FcRelu(GraphBuilder& builder, const std::string& name, const std::string& relu_name,
                   int64_t features, const std::string& input, const Rules& rules);
std::string Fc(GraphBuilder& builder, const std::string& name, int64_t features,
               const std::string& input, const Rules& rules);

}  // namespace tench
