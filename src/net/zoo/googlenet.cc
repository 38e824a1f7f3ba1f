// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {
namespace {

constexpr double kAuxiliaryWeight = 0.3;

Rules ConvRules() { return CaffeRules(Xavier(), 0.2, 0); }
Rules ScoreRules() { return CaffeRules(Xavier(), 0, 0); }

// Output channels of the parts of an inception module, in the order of the paper's table.
struct Inception {
  std::string name;
  int64_t conv1, reduce3, conv3, reduce5, conv5, pool;
};

std::string AppendConv(GraphBuilder& b, const std::string& name, const Convolution& conv,
                       const std::string& input) {
  return ConvRelu(b, name, name + "_relu", conv, input, ConvRules());
}

std::string AppendInception(GraphBuilder& b, const Inception& m, const std::string& input) {
  const std::string prefix = "inception_" + m.name + "/";
  const std::string one = AppendConv(b, prefix + "1x1", Conv(m.conv1, 1), input);
  std::string three = AppendConv(b, prefix + "3x3_reduce", Conv(m.reduce3, 1), input);
  three = AppendConv(b, prefix + "3x3", Conv(m.conv3, 3, 1, 1), three);
  std::string five = AppendConv(b, prefix + "5x5_reduce", Conv(m.reduce5, 1), input);
  five = AppendConv(b, prefix + "5x5", Conv(m.conv5, 5, 1, 2), five);
  std::string pool = b.Append(prefix + "pool", MaxPool(3, 1, 1), {input});
  pool = AppendConv(b, prefix + "pool_proj", Conv(m.pool, 1), pool);
  return b.Append(prefix + "output", Concat{}, {one, three, five, pool});
}

void AppendAuxiliaryHead(GraphBuilder& b, const std::string& name, const std::string& input,
                         int64_t classes) {
  const std::string prefix = name + "/";
  std::string top = b.Append(prefix + "pool", AvgPool(5, 3), {input});
  top = AppendConv(b, prefix + "conv", Conv(128, 1), top);
  top = b.Append(prefix + "flatten", Flatten{}, {top});
  top = FcRelu(b, prefix + "fc", prefix + "fc_relu", 1024, top, ConvRules());
  top = b.Append(prefix + "drop", Dropout{0.7}, {top});
  top = Fc(b, prefix + "classifier", classes, top, ScoreRules());
  b.Append(prefix + "loss", SoftmaxCrossEntropy{kAuxiliaryWeight, true}, {top, "label"});
}

// ImageNet: 224 pixels down to 28. For small images the stem has stride 1 and no pooling.
std::string AppendInceptionStem(GraphBuilder& b, bool small) {
  std::string top = small ? AppendConv(b, "conv1/3x3", Conv(64, 3, 1, 1), "data")
                          : AppendConv(b, "conv1/7x7", Conv(64, 7, 2, 3), "data");
  if (!small) top = b.Append("pool1", CaffeMaxPool(3, 2), {top});
  top = b.Append("norm1", Lrn{}, {top});
  top = AppendConv(b, "conv2/3x3_reduce", Conv(64, 1), top);
  top = AppendConv(b, "conv2/3x3", Conv(192, 3, 1, 1), top);
  top = b.Append("norm2", Lrn{}, {top});
  if (!small) top = b.Append("pool2", CaffeMaxPool(3, 2), {top});
  return top;
}

}  // namespace

Graph BuildGooglenet(const InputSpec& spec) {
  GraphBuilder b("googlenet");
  AppendImages(b, ImageShape(spec), spec.classes);
  std::string top = AppendInceptionStem(b, IsSmall(spec));
  top = AppendInception(b, {"3a", 64, 96, 128, 16, 32, 32}, top);
  top = AppendInception(b, {"3b", 128, 128, 192, 32, 96, 64}, top);
  top = b.Append("pool3", CaffeMaxPool(3, 2), {top});
  top = AppendInception(b, {"4a", 192, 96, 208, 16, 48, 64}, top);
  AppendAuxiliaryHead(b, "loss1", top, spec.classes);
  top = AppendInception(b, {"4b", 160, 112, 224, 24, 64, 64}, top);
  top = AppendInception(b, {"4c", 128, 128, 256, 24, 64, 64}, top);
  top = AppendInception(b, {"4d", 112, 144, 288, 32, 64, 64}, top);
  AppendAuxiliaryHead(b, "loss2", top, spec.classes);
  top = AppendInception(b, {"4e", 256, 160, 320, 32, 128, 128}, top);
  top = b.Append("pool4", CaffeMaxPool(3, 2), {top});
  top = AppendInception(b, {"5a", 256, 160, 320, 32, 128, 128}, top);
  top = AppendInception(b, {"5b", 384, 192, 384, 48, 128, 128}, top);
  top = b.Append("pool5", GlobalAvgPool(), {top});
  top = b.Append("flatten", Flatten{}, {top});
  top = b.Append("drop", Dropout{0.4}, {top});
  top = Fc(b, "classifier", spec.classes, top, ScoreRules());
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
