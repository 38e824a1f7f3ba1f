// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/output_loss.h"

#include <algorithm>

#include "base/text.h"
#include "net/op_traits.h"

namespace tench {
namespace {

class OutputLosses {
 public:
  OutputLosses(const std::set<std::string>& silenced, std::vector<TypedLayer>& layers)
      : silenced_(silenced), layers_(layers) {
    for (const TypedLayer& typed : layers_) {
      taken_.insert(typed.layer.name);
      read_.insert(typed.layer.inputs.begin(), typed.layer.inputs.end());
    }
  }

  std::vector<std::string> Add() {
    std::vector<TypedLayer> result;
    for (TypedLayer& typed : layers_) {
      const bool output = !read_.contains(typed.layer.name) &&
                          !silenced_.contains(typed.layer.name) &&
                          !std::holds_alternative<Input>(typed.layer.op);
      if (!output) {
        result.push_back(std::move(typed));
      } else if (IsClassSoftmax(typed)) {
        ReplaceSoftmax(std::move(typed), result);
      } else {
        AddTarget(std::move(typed), result);
      }
    }
    layers_ = std::move(result);
    return std::move(notes_);
  }

 private:
  static bool IsClassSoftmax(const TypedLayer& typed) {
    const Shape& shape = typed.output.shape;
    return std::holds_alternative<Softmax>(typed.layer.op) && shape.size() >= 2 &&
           ElementCount(shape) == shape[0] * shape[1];
  }

  std::string Unique(const std::string& name) {
    std::string unique = name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
    return unique;
  }

  static TypedLayer Untyped(Layer layer) { return {std::move(layer), {}, {}, {}}; }

  void ReplaceSoftmax(TypedLayer typed, std::vector<TypedLayer>& result) {
    const Shape& shape = typed.output.shape;
    const Fill classes{FillKind::kInteger, 0, static_cast<double>(shape[1])};
    const std::string label = Unique("label");
    result.push_back(Untyped({label, Input{InputRole::kLabel, {}, classes}, {}, {}, {}}));
    std::string scores = typed.layer.inputs.at(0);
    if (shape.size() > 2) {
      const std::string flat = Unique(typed.layer.name + "_flatten");
      result.push_back(Untyped({flat, Flatten{}, {scores}, {}, {}}));
      scores = flat;
    }
    notes_.push_back(
        fmt::format("the network has no loss: the softmax '{}' is run as a softmax cross-entropy "
                    "with generated labels",
                    typed.layer.name));
    result.push_back(Untyped({typed.layer.name, SoftmaxCrossEntropy{}, {scores, label}, {}, {}}));
  }

  void AddTarget(TypedLayer typed, std::vector<TypedLayer>& result) {
    const std::string output = typed.layer.name;
    const Shape sample(typed.output.shape.begin() + 1, typed.output.shape.end());
    result.push_back(std::move(typed));
    const std::string target = Unique(output + "_target");
    result.push_back(Untyped(
        {target, Input{InputRole::kData, sample, {FillKind::kGaussian, 0, 1}}, {}, {}, {}}));
    result.push_back(
        Untyped({Unique(output + "_loss"), MeanSquaredError{}, {output, target}, {}, {}}));
    notes_.push_back(
        fmt::format("the network has no loss: the output '{}' gets a mean squared error with "
                    "generated targets",
                    output));
  }

  const std::set<std::string>& silenced_;
  std::vector<TypedLayer>& layers_;
  std::set<std::string> taken_, read_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> AddOutputLosses(const std::set<std::string>& silenced,
                                         std::vector<TypedLayer>& layers) {
  const bool has_loss = std::any_of(layers.begin(), layers.end(),
                                    [](const TypedLayer& typed) { return IsLoss(typed.layer.op); });
  return has_loss ? std::vector<std::string>() : OutputLosses(silenced, layers).Add();
}

}  // namespace tench
