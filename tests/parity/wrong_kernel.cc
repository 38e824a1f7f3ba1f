// SPDX-License-Identifier: Apache-2.0
#include "wrong_kernel.h"

#include <algorithm>

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

class WrongDropout final : public Kernel {
 public:
  WrongDropout(const Dropout& op, const KernelSite& site, DropoutFault fault)
      : ratio_(op.ratio),
        name_(site.name()),
        fault_(fault),
        sample_(static_cast<size_t>(ElementCount(site.output()) / site.output()[0])) {
    mask_.resize(static_cast<size_t>(ElementCount(site.output())));
  }

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool&) override {
    const bool active = step.training && step.dropout;
    scale_ = !active || fault_ == DropoutFault::kUnscaled ? 1 : 1 / (1 - ratio_);
    const Generator generator(
        step.seed,
        fmt::format("{}.mask.{}", name_, fault_ == DropoutFault::kRepeatedMask ? 0 : step.step));
    for (size_t i = 0; i < mask_.size(); ++i) {
      const size_t index = fault_ == DropoutFault::kSharedMask ? i % sample_ : i;
      mask_[i] = !active || generator.Uniform(index) >= ratio_ ? 1.0f : 0.0f;
      tensors.output[i] = static_cast<float>(scale_ * mask_[i] * tensors.inputs[0][i]);
    }
  }

  void Backward(const KernelTensors& tensors, ThreadPool&) override {
    for (size_t i = 0; i < tensors.input_gradients[0].size(); ++i) {
      const double mask = fault_ == DropoutFault::kUnmaskedBackward ? 1 : mask_[i];
      AddTo(tensors.input_gradients[0][i], scale_ * mask * tensors.output_gradient[i]);
    }
  }

 private:
  const double ratio_;
  const std::string name_;
  const DropoutFault fault_;
  const size_t sample_;
  double scale_ = 1;
  std::vector<float> mask_;
};

// Leaves the gradients of its parameters at zero.
class SilentKernel final : public Kernel {
 public:
  explicit SilentKernel(const KernelSite& site) : right_(MakeKernel(site)) {}

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) override {
    right_->Forward(tensors, step, pool);
  }
  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    right_->Backward(tensors, pool);
    for (const std::span<float> gradient : tensors.parameter_gradients)
      std::fill(gradient.begin(), gradient.end(), 0.0f);
  }

 private:
  std::unique_ptr<Kernel> right_;
};

}  // namespace

std::unique_ptr<Kernel> MakeBiasedBatchNorm(const BatchNorm& op, const KernelSite& site) {
  return std::make_unique<BiasedBatchNorm>(op, site);
}

std::unique_ptr<Kernel> MakeWrongDropout(const Dropout& op, const KernelSite& site,
                                         DropoutFault fault) {
  return std::make_unique<WrongDropout>(op, site, fault);
}

std::unique_ptr<Kernel> MakeSilentKernel(const KernelSite& site) {
  return std::make_unique<SilentKernel>(site);
}

}  // namespace tench
