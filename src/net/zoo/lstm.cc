// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/blocks.h"
#include "net/zoo/families.h"

namespace tench {

Graph BuildLstm(const InputSpec& spec) {
  constexpr int64_t kWidth = 128;  // of the embedding and of the LSTM's state
  auto integers = [](int64_t low, int64_t high) {
    return Fill{FillKind::kInteger, static_cast<double>(low), static_cast<double>(high)};
  };
  // The paper initializes with orthogonal matrices; Xavier's entries have the same variance, 1 /
  // width.
  const Rules lstm_rules = PlainRules(Xavier());
  GraphBuilder b("lstm");
  b.Append("tokens", Input{InputRole::kTokens, {spec.length}, integers(0, spec.vocabulary)}, {});
  b.Append("lengths", Input{InputRole::kLengths, {}, integers(1, spec.length + 1)}, {});
  b.Append("label", Input{InputRole::kLabel, {}, integers(0, spec.classes)}, {});
  std::string top = b.Append("embedding", Embedding{spec.vocabulary, kWidth}, {"tokens"},
                             {Uniform(0, 0.01), 1, 1});
  top = b.Append("lstm", Lstm{kWidth}, {top}, lstm_rules.weight, lstm_rules.bias);
  top = b.Append("mean", MeanOverTime{}, {top, "lengths"});
  top = Fc(b, "fc", spec.classes, top, PlainRules(Gaussian(0.01)));
  b.Append("loss", SoftmaxCrossEntropy{}, {top, "label"});
  return b.Take();
}

}  // namespace tench
