// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

class LrnKernel final : public Kernel {
 public:
  LrnKernel(const Lrn& op, const KernelSite& site)
      : op_(op),
        batch_(site.input(0)[0]),
        channels_(site.input(0)[1]),
        plane_(ElementCount(site.input(0)) / (batch_ * channels_)) {
    if (site.training) scale_.resize(batch_ * channels_ * plane_);
  }

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(batch_ * channels_, [&](int64_t piece, int64_t) {
      const int64_t image = piece / channels_, channel = piece % channels_;
      for (int64_t i = 0; i < plane_; ++i) {
        double squares = 0;
        for (int64_t c = First(channel); c < Last(channel); ++c) {
          const double x = tensors.inputs[0][At(image, c) + i];
          squares += x * x;
        }
        const double scale = op_.k + op_.alpha / static_cast<double>(op_.size) * squares;
        const int64_t at = At(image, channel) + i;
        tensors.output[at] = static_cast<float>(tensors.inputs[0][at] * std::pow(scale, -op_.beta));
        if (!scale_.empty()) scale_[at] = scale;
      }
    });
  }

  // With s the scale: dx = dy · s^-beta - 2 · alpha · beta / size · x · Σ dy · x · s^(-beta - 1), the sum over the
  // channels whose window holds this one.
  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    const std::span<const float> x = tensors.inputs[0], dy = tensors.output_gradient;
    std::vector<double> falloff(x.size());
    pool.Split(static_cast<int64_t>(x.size()), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) falloff[at] = std::pow(scale_[at], -op_.beta);
    });
    const double factor = 2 * op_.alpha * op_.beta / static_cast<double>(op_.size);
    pool.Run(batch_ * channels_, [&](int64_t piece, int64_t) {
      const int64_t image = piece / channels_, channel = piece % channels_;
      // The windows that hold this channel: a mirrored window around it.
      const int64_t first = std::max<int64_t>(0, channel + Before() + 1 - op_.size);
      const int64_t last = std::min(channels_, channel + Before() + 1);
      for (int64_t i = 0; i < plane_; ++i) {
        double sum = 0;
        for (int64_t c = first; c < last; ++c) {
          const int64_t other = At(image, c) + i;
          sum += dy[other] * static_cast<double>(x[other]) * falloff[other] / scale_[other];
        }
        const int64_t at = At(image, channel) + i;
        AddTo(tensors.input_gradients[0][at], dy[at] * falloff[at] - factor * x[at] * sum);
      }
    });
  }

 private:
  int64_t Before() const { return (op_.size - 1) / 2; }
  int64_t First(int64_t channel) const { return std::max<int64_t>(0, channel - Before()); }
  int64_t Last(int64_t channel) const { return std::min(channels_, channel - Before() + op_.size); }
  int64_t At(int64_t image, int64_t channel) const { return (image * channels_ + channel) * plane_; }

  const Lrn op_;
  const int64_t batch_, channels_, plane_;
  std::vector<double> scale_;
};

}  // namespace

std::unique_ptr<Kernel> MakeLrn(const Lrn& op, const KernelSite& site) { return std::make_unique<LrnKernel>(op, site); }

}  // namespace tench
