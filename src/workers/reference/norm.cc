// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

// Base of the kernels that process channel by channel.
class ChannelKernel : public Kernel {
 protected:
  explicit ChannelKernel(const KernelSite& site)
      : batch_(site.input(0)[0]),
        channels_(site.input(0)[1]),
        plane_(ElementCount(site.input(0)) / (batch_ * channels_)) {}

  template <class Visit>
  void ForEach(int64_t channel, const Visit& visit) const {
    for (int64_t image = 0; image < batch_; ++image) {
      const int64_t origin = (image * channels_ + channel) * plane_;
      for (int64_t at = origin; at < origin + plane_; ++at) visit(at);
    }
  }

  const int64_t batch_, channels_, plane_;
};

class ScaleKernel final : public ChannelKernel {
 public:
  ScaleKernel(const Scale& op, const KernelSite& site) : ChannelKernel(site), bias_(op.bias) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(channels_, [&](int64_t channel, int64_t) {
      const double scale = tensors.parameters[0][channel],
                   shift = bias_ ? tensors.parameters[1][channel] : 0.0f;
      ForEach(channel, [&](int64_t at) {
        tensors.output[at] = static_cast<float>(tensors.inputs[0][at] * scale + shift);
      });
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    pool.Run(channels_, [&](int64_t channel, int64_t) {
      double sum = 0, product = 0;
      ForEach(channel, [&](int64_t at) {
        sum += tensors.output_gradient[at];
        product += static_cast<double>(tensors.output_gradient[at]) * tensors.inputs[0][at];
      });
      tensors.parameter_gradients[0][channel] = static_cast<float>(product);
      if (bias_) tensors.parameter_gradients[1][channel] = static_cast<float>(sum);
      if (tensors.input_gradients[0].empty()) return;
      const double scale = tensors.parameters[0][channel];
      ForEach(channel, [&](int64_t at) {
        AddTo(tensors.input_gradients[0][at], scale * tensors.output_gradient[at]);
      });
    });
  }

 private:
  const bool bias_;
};

class BatchNormKernel final : public ChannelKernel {
 public:
  BatchNormKernel(const BatchNorm& op, const KernelSite& site)
      : ChannelKernel(site), op_(op), mean_(channels_), inverse_(channels_) {}

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) override {
    pool.Run(channels_, [&](int64_t channel, int64_t) {
      if (step.training) {
        MeasureBatch(channel, tensors);
      } else {
        mean_[channel] = RunningMean(tensors)[channel];
        inverse_[channel] = 1 / std::sqrt(RunningVar(tensors)[channel] + op_.eps);
      }
      const double scale = ScaleOf(tensors, channel) * inverse_[channel];
      const double mean = mean_[channel],
                   shift = op_.affine ? tensors.parameters[kShift][channel] : 0.0f;
      ForEach(channel, [&](int64_t at) {
        tensors.output[at] = static_cast<float>((tensors.inputs[0][at] - mean) * scale + shift);
      });
    });
  }

  // With x̂ the normalized input and m the elements of a channel: dx = scale / σ · (dy - Σdy / m -
  // x̂ · Σ(dy·x̂) / m).
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
      if (op_.affine) tensors.parameter_gradients[kScale][channel] = static_cast<float>(product);
      if (op_.affine) tensors.parameter_gradients[kShift][channel] = static_cast<float>(sum);
      if (tensors.input_gradients[0].empty()) return;
      const double scale = ScaleOf(tensors, channel) * inverse;
      ForEach(channel, [&](int64_t at) {
        const double normal = (tensors.inputs[0][at] - mean) * inverse;
        AddTo(tensors.input_gradients[0][at],
              scale * (tensors.output_gradient[at] - sum / count - normal * product / count));
      });
    });
  }

 private:
  // The running statistics are last, with or without scale and shift.
  enum ParameterOrder { kScale, kShift };
  static std::span<float> RunningMean(const KernelTensors& tensors) {
    return tensors.parameters.end()[-2];
  }
  static std::span<float> RunningVar(const KernelTensors& tensors) {
    return tensors.parameters.end()[-1];
  }
  double ScaleOf(const KernelTensors& tensors, int64_t channel) const {
    return op_.affine ? tensors.parameters[kScale][channel] : 1.0f;
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
    // A single element has no unbiased variance; the biased variance, 0, replaces it.
    const double unbiased = squares / (count > 1 ? count - 1 : 1);
    Move(RunningMean(tensors)[channel], mean);
    Move(RunningVar(tensors)[channel], unbiased);
  }

  void Move(float& running, double batch) const {
    running = static_cast<float>((1 - op_.momentum) * running + op_.momentum * batch);
  }

  const BatchNorm op_;
  std::vector<double> mean_, inverse_;
};

}  // namespace

std::unique_ptr<Kernel> MakeScale(const Scale& op, const KernelSite& site) {
  return std::make_unique<ScaleKernel>(op, site);
}
std::unique_ptr<Kernel> MakeBatchNorm(const BatchNorm& op, const KernelSite& site) {
  return std::make_unique<BatchNormKernel>(op, site);
}

}  // namespace tench
