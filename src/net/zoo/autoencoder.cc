// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {
namespace {

constexpr std::array<int64_t, 3> kCodes = {400, 200, 100};

// Fully connected layers of the given widths, with a sigmoid after each but the last, whose sigmoid
// is part of the loss. The target is the input.
Graph Reconstruct(std::string name, const Shape& sample, const std::vector<int64_t>& widths) {
  const Rules rules = PlainRules(Xavier());
  GraphBuilder b(std::move(name));
  std::string target = b.Append("data", Input{InputRole::kData, sample, Uniform(0, 1)}, {});
  if (sample.size() > 1) target = b.Append("flatten", Flatten{}, {target});
  std::string top = target;
  for (size_t i = 0; i < widths.size(); ++i) {
    top = Fc(b, fmt::format("fc{}", i + 1), widths[i], top, rules);
    if (i + 1 < widths.size()) top = b.Append(fmt::format("sigmoid{}", i + 1), Sigmoid{}, {top});
  }
  b.Append("loss", SigmoidCrossEntropy{}, {top, target});
  return b.Take();
}

}  // namespace

Graph BuildAutoencoder(const InputSpec& spec) {
  const Shape image = ImageShape(spec);
  return Reconstruct("autoencoder", image,
                     {kCodes[0], kCodes[1], kCodes[2], kCodes[1], kCodes[0], ElementCount(image)});
}

Graph BuildAutoencoderStage(const InputSpec& spec, int stage) {
  Check(stage >= 1 && stage <= static_cast<int>(kCodes.size()), "the autoencoder has three stages");
  // A later stage learns to reproduce the code of the previous stage, which is a vector.
  const Shape sample = stage == 1 ? ImageShape(spec) : Shape{kCodes[stage - 2]};
  const std::string name = fmt::format("autoencoder-stage{}", stage);
  return Reconstruct(name, sample, {kCodes[stage - 1], ElementCount(sample)});
}

}  // namespace tench
