// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const KernelSite& site)
      : batch_(site.input(0)[0]),
        channels_(site.input(0)[1]),
        plane_(ElementCount(site.input(0)) / (batch_ * channels_)) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    const std::span<const float> x = tensors.inputs[0];
    pool.Run(batch_, [&](int64_t image, int64_t) {
      for (int64_t place = 0; place < plane_; ++place) {
        double highest = x[At(image, 0, place)], sum = 0;
        for (int64_t c = 1; c < channels_; ++c)
          highest = std::max<double>(highest, x[At(image, c, place)]);
        for (int64_t c = 0; c < channels_; ++c) sum += std::exp(x[At(image, c, place)] - highest);
        for (int64_t c = 0; c < channels_; ++c) {
          const int64_t at = At(image, c, place);
          tensors.output[at] = static_cast<float>(std::exp(x[at] - highest) / sum);
        }
      }
    });
  }

  // dx = y · (dy - Σ dy · y), summed over the channels of one position.
  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    const std::span<const float> y = tensors.output, dy = tensors.output_gradient;
    pool.Run(batch_, [&](int64_t image, int64_t) {
      for (int64_t place = 0; place < plane_; ++place) {
        double sum = 0;
        for (int64_t c = 0; c < channels_; ++c)
          sum += static_cast<double>(dy[At(image, c, place)]) * y[At(image, c, place)];
        for (int64_t c = 0; c < channels_; ++c) {
          const int64_t at = At(image, c, place);
          AddTo(tensors.input_gradients[0][at], y[at] * (dy[at] - sum));
        }
      }
    });
  }

 private:
  int64_t At(int64_t image, int64_t channel, int64_t place) const {
    return (image * channels_ + channel) * plane_ + place;
  }

  const int64_t batch_, channels_, plane_;
};

}  // namespace

std::unique_ptr<Kernel> MakeSoftmax(const KernelSite& site) {
  return std::make_unique<SoftmaxKernel>(site);
}

}  // namespace tench
