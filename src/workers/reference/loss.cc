// SPDX-License-Identifier: Apache-2.0
// Losses are small, so one thread sums them in order. Labels and targets get no gradient: Infer
// accepts only data in their place.
#include <algorithm>
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

class LossKernel : public Kernel {
 public:
  double Loss() const override { return loss_; }

 protected:
  void Publish(double loss, const KernelTensors& tensors) {
    loss_ = loss;
    tensors.output[0] = static_cast<float>(loss);
  }

 private:
  double loss_ = 0;
};

class SoftmaxCrossEntropyKernel final : public LossKernel {
 public:
  SoftmaxCrossEntropyKernel(const SoftmaxCrossEntropy& op, const KernelSite& site)
      : weight_(op.loss_weight),
        ignored_(op.ignore_label),
        batch_(site.input(0)[0]),
        classes_(site.input(0)[1]),
        norms_(batch_) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool&) override {
    double sum = 0;
    counted_ = 0;
    for (int64_t sample = 0; sample < batch_; ++sample) {
      if (tensors.integers[1][sample] == ignored_) continue;
      ++counted_;
      const std::span<const float> scores = tensors.inputs[0].subspan(sample * classes_, classes_);
      norms_[sample] = Normalise(scores);
      sum += std::log(norms_[sample].sum) +
             (norms_[sample].highest - scores[tensors.integers[1][sample]]);
    }
    Publish(weight_ * sum / Divisor(), tensors);
  }

  void Backward(const KernelTensors& tensors, ThreadPool&) override {
    if (tensors.input_gradients[0].empty()) return;
    const double factor = weight_ / Divisor();
    for (int64_t sample = 0; sample < batch_; ++sample) {
      if (tensors.integers[1][sample] == ignored_) continue;
      for (int64_t k = 0; k < classes_; ++k) {
        const int64_t at = sample * classes_ + k;
        const double probability =
            std::exp(tensors.inputs[0][at] - norms_[sample].highest) / norms_[sample].sum;
        AddTo(tensors.input_gradients[0][at],
              factor * (probability - (k == tensors.integers[1][sample] ? 1 : 0)));
      }
    }
  }

 private:
  // The maximum of the scores, which is subtracted before the exponential, and the sum of the
  // exponentials.
  struct Norm {
    double highest = 0, sum = 0;
  };

  static Norm Normalise(std::span<const float> scores) {
    Norm norm{*std::max_element(scores.begin(), scores.end()), 0};
    for (const float score : scores) norm.sum += std::exp(score - norm.highest);
    return norm;
  }

  double Divisor() const { return static_cast<double>(std::max<int64_t>(counted_, 1)); }

  const double weight_;
  const std::optional<int64_t> ignored_;
  const int64_t batch_, classes_;
  int64_t counted_ = 0;
  std::vector<Norm> norms_;
};

class SigmoidCrossEntropyKernel final : public LossKernel {
 public:
  SigmoidCrossEntropyKernel(const SigmoidCrossEntropy& op, const KernelSite& site)
      : factor_(op.loss_weight / static_cast<double>(site.input(0)[0])) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool&) override {
    double sum = 0;
    for (size_t i = 0; i < tensors.inputs[0].size(); ++i) {
      const double score = tensors.inputs[0][i], target = tensors.inputs[1][i];
      // -target·log σ(score) - (1 - target)·log(1 - σ(score)), in a form in which no exponential
      // overflows.
      sum += std::max(score, 0.0) - score * target + std::log1p(std::exp(-std::abs(score)));
    }
    Publish(factor_ * sum, tensors);
  }

  void Backward(const KernelTensors& tensors, ThreadPool&) override {
    if (tensors.input_gradients[0].empty()) return;
    for (size_t i = 0; i < tensors.inputs[0].size(); ++i) {
      const double score = tensors.inputs[0][i], target = tensors.inputs[1][i];
      AddTo(tensors.input_gradients[0][i], factor_ * (1 / (1 + std::exp(-score)) - target));
    }
  }

 private:
  const double factor_;
};

class MeanSquaredErrorKernel final : public LossKernel {
 public:
  explicit MeanSquaredErrorKernel(const MeanSquaredError& op) : weight_(op.loss_weight) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool&) override {
    double sum = 0;
    for (size_t i = 0; i < tensors.inputs[0].size(); ++i) {
      const double distance = static_cast<double>(tensors.inputs[0][i]) - tensors.inputs[1][i];
      sum += distance * distance;
    }
    Publish(weight_ * sum / static_cast<double>(tensors.inputs[0].size()), tensors);
  }

  void Backward(const KernelTensors& tensors, ThreadPool&) override {
    if (tensors.input_gradients[0].empty()) return;
    const double factor = 2 * weight_ / static_cast<double>(tensors.inputs[0].size());
    for (size_t i = 0; i < tensors.inputs[0].size(); ++i) {
      const double distance = static_cast<double>(tensors.inputs[0][i]) - tensors.inputs[1][i];
      AddTo(tensors.input_gradients[0][i], factor * distance);
    }
  }

 private:
  const double weight_;
};

}  // namespace

std::unique_ptr<Kernel> MakeSoftmaxCrossEntropy(const SoftmaxCrossEntropy& op,
                                                const KernelSite& site) {
  return std::make_unique<SoftmaxCrossEntropyKernel>(op, site);
}
std::unique_ptr<Kernel> MakeSigmoidCrossEntropy(const SigmoidCrossEntropy& op,
                                                const KernelSite& site) {
  return std::make_unique<SigmoidCrossEntropyKernel>(op, site);
}
std::unique_ptr<Kernel> MakeMeanSquaredError(const MeanSquaredError& op) {
  return std::make_unique<MeanSquaredErrorKernel>(op);
}

}  // namespace tench
