// SPDX-License-Identifier: Apache-2.0
#include "wrong_kernel.h"

#include "net/fill.h"

namespace tench {
namespace {

// The output is correct, because it uses the batch statistics; the running statistics are not.
class BiasedBatchNorm final : public Kernel {
 public:
  BiasedBatchNorm(const BatchNorm& op, const KernelSite& site)
      : right_(MakeBatchNorm(op, site)),
        momentum_(op.momentum),
        batch_(site.input(0)[0]),
        channels_(site.input(0)[1]),
        plane_(ElementCount(site.input(0)) / (batch_ * channels_)) {}

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) override {
    const std::span<float> running = tensors.parameters[kRunningVar];
    const std::vector<float> before(running.begin(), running.end());
    right_->Forward(tensors, step, pool);
    if (!step.training) return;
    for (int64_t channel = 0; channel < channels_; ++channel) {
      running[static_cast<size_t>(channel)] =
          static_cast<float>((1 - momentum_) * before[static_cast<size_t>(channel)] +
                             momentum_ * BiasedVariance(channel, tensors.inputs[0]));
    }
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    right_->Backward(tensors, pool);
  }

 private:
  static constexpr size_t kRunningVar = 3;

  double BiasedVariance(int64_t channel, std::span<const float> input) const {
    double sum = 0, squares = 0;
    for (int64_t image = 0; image < batch_; ++image) {
      const auto plane = input.subspan(static_cast<size_t>((image * channels_ + channel) * plane_),
                                       static_cast<size_t>(plane_));
      for (const float value : plane) {
        sum += value;
        squares += double{value} * value;
      }
    }
    const double count = static_cast<double>(batch_ * plane_);
    return squares / count - (sum / count) * (sum / count);
  }

  std::unique_ptr<Kernel> right_;
  const double momentum_;
  const int64_t batch_, channels_, plane_;
};

class UnscaledDropout final : public Kernel {
 public:
  UnscaledDropout(const Dropout& op, const KernelSite& site)
      : ratio_(op.ratio), name_(site.name()) {
    mask_.resize(static_cast<size_t>(ElementCount(site.output())));
  }

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool&) override {
    const bool active = step.training && step.dropout;
    const Generator generator(step.seed, fmt::format("{}.mask.{}", name_, step.step));
    for (size_t i = 0; i < mask_.size(); ++i) {
      mask_[i] = !active || generator.Uniform(i) >= ratio_ ? 1.0f : 0.0f;
      tensors.output[i] = mask_[i] * tensors.inputs[0][i];
    }
  }

  void Backward(const KernelTensors& tensors, ThreadPool&) override {
    for (size_t i = 0; i < tensors.input_gradients[0].size(); ++i)
      AddTo(tensors.input_gradients[0][i], double{mask_[i]} * tensors.output_gradient[i]);
  }

 private:
  const double ratio_;
  const std::string name_;
  std::vector<float> mask_;
};

}  // namespace

std::unique_ptr<Kernel> MakeBiasedBatchNorm(const BatchNorm& op, const KernelSite& site) {
  return std::make_unique<BiasedBatchNorm>(op, site);
}

std::unique_ptr<Kernel> MakeUnscaledDropout(const Dropout& op, const KernelSite& site) {
  return std::make_unique<UnscaledDropout>(op, site);
}

}  // namespace tench
