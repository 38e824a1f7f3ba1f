// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {
namespace {

struct Depth {
  int layers;
  bool bottleneck;
  std::array<int, 4> blocks;
};
constexpr std::array<Depth, 5> kDepths = {{
    {18, false, {2, 2, 2, 2}},
    {34, false, {3, 4, 6, 3}},
    {50, true, {3, 4, 6, 3}},
    {101, true, {3, 4, 23, 3}},
    {152, true, {3, 8, 36, 3}},
}};
constexpr int64_t kExpansion = 4;  // output channels of a bottleneck block over its inner ones

const Depth& FindDepth(int layers) {
  for (const Depth& depth : kDepths) {
    if (depth.layers == layers) return depth;
  }
  Check(false, fmt::format("there is no ResNet of {} layers", layers));
  return kDepths[0];
}

std::string ConvBn(GraphBuilder& b, const std::string& conv_name, const std::string& bn_name,
                   Convolution conv, const std::string& input) {
  conv.bias = false;  // batch norm would subtract it again
  b.Append(conv_name, conv, {input}, {MsraFanOut(), 1, 1});
  return b.Append(bn_name, BatchNorm{}, {conv_name}, {Constant(1), 1, 1}, {Constant(0), 1, 1});
}

struct Block {
  std::string prefix;
  bool bottleneck;
  int64_t width;  // channels of the 3×3 convolution
  int64_t stride;
  bool projection;  // the shortcut changes shape
};

std::string AppendResidual(GraphBuilder& b, const Block& block, const std::string& input) {
  const std::string& p = block.prefix;
  auto conv_bn_relu = [&](int i, const Convolution& conv, const std::string& bottom) {
    const std::string bn =
        ConvBn(b, fmt::format("{}conv{}", p, i), fmt::format("{}bn{}", p, i), conv, bottom);
    return b.Append(fmt::format("{}relu{}", p, i), Relu{}, {bn});
  };
  if (!block.bottleneck) {
    const std::string top = conv_bn_relu(1, Conv(block.width, 3, block.stride, 1), input);
    return ConvBn(b, p + "conv2", p + "bn2", Conv(block.width, 3, 1, 1), top);
  }
  std::string top = conv_bn_relu(1, Conv(block.width, 1), input);
  top = conv_bn_relu(2, Conv(block.width, 3, block.stride, 1), top);
  return ConvBn(b, p + "conv3", p + "bn3", Conv(block.width * kExpansion, 1), top);
}

std::string AppendBlock(GraphBuilder& b, const Block& block, const std::string& input) {
  const std::string& p = block.prefix;
  const std::string residual = AppendResidual(b, block, input);
  std::string shortcut = input;
  if (block.projection) {
    const int64_t out_channels = block.bottleneck ? block.width * kExpansion : block.width;
    shortcut =
        ConvBn(b, p + "shortcut", p + "shortcut_bn", Conv(out_channels, 1, block.stride), input);
  }
  b.Append(p + "add", Add{}, {residual, shortcut});
  return b.Append(p + "relu", Relu{}, {p + "add"});
}

std::string AppendResidualStem(GraphBuilder& b, bool small) {
  const std::string bn =
      ConvBn(b, "conv1", "bn1", small ? Conv(64, 3, 1, 1) : Conv(64, 7, 2, 3), "data");
  const std::string relu = b.Append("relu1", Relu{}, {bn});
  return small ? relu : b.Append("pool1", MaxPool(3, 2, 1), {relu});
}

}  // namespace

Graph BuildResnet(const InputSpec& spec, int depth_layers) {
  const Depth& depth = FindDepth(depth_layers);
  GraphBuilder b(fmt::format("resnet{}", depth.layers));
  AppendImages(b, ImageShape(spec), spec.classes);
  std::string top = AppendResidualStem(b, IsSmall(spec));
  for (size_t stage = 0; stage < depth.blocks.size(); ++stage) {
    for (int i = 0; i < depth.blocks[stage]; ++i) {
      const bool first = i == 0;
      Block block;
      block.prefix = fmt::format("stage{}/block{}/", stage + 1, i + 1);
      block.bottleneck = depth.bottleneck;
      block.width = int64_t{64} << stage;
      block.stride = first && stage > 0 ? 2 : 1;
      block.projection = first && (stage > 0 || depth.bottleneck);
      top = AppendBlock(b, block, top);
    }
  }
  top = b.Append("pool", GlobalAvgPool(), {top});
  top = b.Append("flatten", Flatten{}, {top});
  top = Fc(b, "fc", spec.classes, top, PlainRules(Gaussian(0.01)));
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
