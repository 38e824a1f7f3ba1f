// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {

Graph BuildMlp(const InputSpec& spec) {
  const Rules rules = PlainRules(Msra());
  GraphBuilder b("mlp");
  AppendImages(b, ImageShape(spec), spec.classes);
  std::string top = b.Append("flatten", Flatten{}, {"data"});
  top = FcRelu(b, "fc1", "relu1", 512, top, rules);
  top = FcRelu(b, "fc2", "relu2", 512, top, rules);
  top = Fc(b, "fc3", spec.classes, top, rules);
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
