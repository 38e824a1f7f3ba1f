// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

class BatchNormKernel final : public Kernel {
 public:
  BatchNormKernel(const BatchNorm& op, const KernelSite& site)
      : op_(op),
        batch_(site.input(0)[0]),
        channels_(site.input(0)[1]),
        plane_(ElementCount(site.input(0)) / (batch_ * channels_)),
        mean_(channels_),
        inverse_(channels_) {}

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) override {
    pool.Run(channels_, [&](int64_t channel, int64_t) {
      if (step.training) {
        MeasureBatch(channel, tensors);
      } else {
        mean_[channel] = tensors.parameters[kRunningMean][channel];
        inverse_[channel] = 1 / std::sqrt(tensors.parameters[kRunningVar][channel] + op_.eps);
      }
      const double scale = tensors.parameters[kScale][channel] * inverse_[channel];
      const double mean = mean_[channel], shift = tensors.parameters[kShift][channel];
      ForEach(channel, [&](int64_t at) {
        tensors.output[at] = static_cast<float>((tensors.inputs[0][at] - mean) * scale + shift);
      });
    });
  }

  // With x̂ the normalised input and m the elements of a channel: dx = scale / σ · (dy - Σdy / m - x̂ · Σ(dy·x̂) / m).
  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    const double count = static_cast<double>(batch_ * plane_);
    pool.Run(channels_, [&](int64_t channel, int64_t) {
      const double mean = mean_[channel], inverse = inverse_[channel];
      double sum = 0, product = 0;
      ForEach(channel, [&](int64_t at) {
        const double gradient = tensors.output_gradient[at];
        sum += gradient;
        product += gradient * ((tensors.inputs[0][at] - mean) * inverse);
      });
      tensors.parameter_gradients[kScale][channel] = static_cast<float>(product);
      tensors.parameter_gradients[kShift][channel] = static_cast<float>(sum);
      if (tensors.input_gradients[0].empty()) return;
      const double scale = tensors.parameters[kScale][channel] * inverse;
      ForEach(channel, [&](int64_t at) {
        const double normal = (tensors.inputs[0][at] - mean) * inverse;
        AddTo(tensors.input_gradients[0][at],
              scale * (tensors.output_gradient[at] - sum / count - normal * product / count));
      });
    });
  }

 private:
  enum ParameterOrder { kScale, kShift, kRunningMean, kRunningVar };

  template <class Visit>
  void ForEach(int64_t channel, const Visit& visit) const {
    for (int64_t image = 0; image < batch_; ++image) {
      const int64_t origin = (image * channels_ + channel) * plane_;
      for (int64_t at = origin; at < origin + plane_; ++at) visit(at);
    }
  }

  void MeasureBatch(int64_t channel, const KernelTensors& tensors) {
    const double count = static_cast<double>(batch_ * plane_);
    double sum = 0, squares = 0;
    ForEach(channel, [&](int64_t at) { sum += tensors.inputs[0][at]; });
    const double mean = sum / count;
    ForEach(channel, [&](int64_t at) {
      const double distance = tensors.inputs[0][at] - mean;
      squares += distance * distance;
    });
    mean_[channel] = mean;
    inverse_[channel] = 1 / std::sqrt(squares / count + op_.eps);
    // A single element has no unbiased variance; its biased one, 0, stands in.
    const double unbiased = squares / (count > 1 ? count - 1 : 1);
    Move(tensors.parameters[kRunningMean][channel], mean);
    Move(tensors.parameters[kRunningVar][channel], unbiased);
  }

  void Move(float& running, double batch) const {
    running = static_cast<float>((1 - op_.momentum) * running + op_.momentum * batch);
  }

  const BatchNorm op_;
  const int64_t batch_, channels_, plane_;
  std::vector<double> mean_, inverse_;
};

}  // namespace

std::unique_ptr<Kernel> MakeBatchNorm(const BatchNorm& op, const KernelSite& site) {
  return std::make_unique<BatchNormKernel>(op, site);
}

}  // namespace tench
