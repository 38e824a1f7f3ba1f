// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {
namespace {

// ImageNet's images vary in size; this is the crop of Caffe's reference network.
constexpr int64_t kCrop = 227;

Rules AlexnetRules(double deviation, double bias) {
  return CaffeRules(Gaussian(deviation), bias, 0);
}

std::string Classifier(GraphBuilder& b, std::string top, int64_t width, int64_t classes) {
  top = b.Append("flatten", Flatten{}, {top});
  top = FcRelu(b, "fc6", "relu6", width, top, AlexnetRules(0.005, 0.1));
  top = b.Append("drop6", Dropout{0.5}, {top});
  top = FcRelu(b, "fc7", "relu7", width, top, AlexnetRules(0.005, 0.1));
  top = b.Append("drop7", Dropout{0.5}, {top});
  return Fc(b, "fc8", classes, top, AlexnetRules(0.01, 0));
}

}  // namespace

Graph BuildAlexnet(const InputSpec& spec) {
  const bool small = IsSmall(spec);
  const Shape image = small ? ImageShape(spec) : Shape{spec.channels, kCrop, kCrop};
  GraphBuilder b("alexnet");
  AppendImages(b, image, spec.classes);
  const Convolution first = small ? Conv(96, 5, 1, 2) : Conv(96, 11, 4);
  std::string top = ConvRelu(b, "conv1", "relu1", first, "data", AlexnetRules(0.01, 0));
  top = b.Append("norm1", Lrn{}, {top});
  top = b.Append("pool1", CaffeMaxPool(3, 2), {top});
  top = ConvRelu(b, "conv2", "relu2", Conv(256, 5, 1, 2, 2), top, AlexnetRules(0.01, 0.1));
  top = b.Append("norm2", Lrn{}, {top});
  top = b.Append("pool2", CaffeMaxPool(3, 2), {top});
  top = ConvRelu(b, "conv3", "relu3", Conv(384, 3, 1, 1), top, AlexnetRules(0.01, 0));
  top = ConvRelu(b, "conv4", "relu4", Conv(384, 3, 1, 1, 2), top, AlexnetRules(0.01, 0.1));
  top = ConvRelu(b, "conv5", "relu5", Conv(256, 3, 1, 1, 2), top, AlexnetRules(0.01, 0.1));
  top = b.Append("pool5", CaffeMaxPool(3, 2), {top});
  top = Classifier(b, top, small ? 1024 : 4096, spec.classes);
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
