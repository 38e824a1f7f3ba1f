// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {
namespace {

constexpr std::array<int64_t, 5> kWidths = {64, 128, 256, 512, 512};
constexpr std::array<int, 5> kConvs16 = {2, 2, 3, 3, 3};
constexpr std::array<int, 5> kConvs19 = {2, 2, 4, 4, 4};

}  // namespace

Graph BuildVgg(const InputSpec& spec, int depth) {
  Check(depth == 16 || depth == 19, "VGG has 16 or 19 layers");
  const auto& convs = depth == 16 ? kConvs16 : kConvs19;
  const Rules rules = CaffeRules(Xavier(), 0, 0);
  const int64_t fc_width = IsSmall(spec) ? 512 : 4096;
  GraphBuilder b(fmt::format("vgg{}", depth));
  AppendImages(b, ImageShape(spec), spec.classes);
  std::string top = "data";
  for (size_t block = 0; block < kWidths.size(); ++block) {
    for (int i = 1; i <= convs[block]; ++i) {
      const std::string suffix = fmt::format("{}_{}", block + 1, i);
      top =
          ConvRelu(b, "conv" + suffix, "relu" + suffix, Conv(kWidths[block], 3, 1, 1), top, rules);
    }
    top = b.Append(fmt::format("pool{}", block + 1), MaxPool(2, 2), {top});
  }
  top = b.Append("flatten", Flatten{}, {top});
  top = FcRelu(b, "fc6", "relu6", fc_width, top, rules);
  top = b.Append("drop6", Dropout{0.5}, {top});
  top = FcRelu(b, "fc7", "relu7", fc_width, top, rules);
  top = b.Append("drop7", Dropout{0.5}, {top});
  top = Fc(b, "fc8", spec.classes, top, rules);
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
