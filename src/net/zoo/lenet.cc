// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {

Graph BuildLenet(const InputSpec& spec) {
  const Rules rules = CaffeRules(Xavier(), 0, 1);
  GraphBuilder b("lenet");
  AppendImages(b, ImageShape(spec), spec.classes);
  std::string top = b.Append("conv1", Conv(20, 5), {"data"}, rules.weight, rules.bias);
  top = b.Append("pool1", MaxPool(2, 2), {top});
  top = b.Append("conv2", Conv(50, 5), {top}, rules.weight, rules.bias);
  top = b.Append("pool2", MaxPool(2, 2), {top});
  top = b.Append("flatten", Flatten{}, {top});
  top = FcRelu(b, "fc1", "relu1", 500, top, rules);
  top = Fc(b, "fc2", spec.classes, top, rules);
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
