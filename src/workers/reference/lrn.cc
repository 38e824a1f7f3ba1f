// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

// Windows have odd size and are symmetric: element j lies in the window of i if and only if i lies
// in the window of j.
class LrnKernel final : public Kernel {
 public:
  LrnKernel(const Lrn& op, const KernelSite& site)
      : op_(op),
        half_((op.size - 1) / 2),
        within_(op.region == LrnRegion::kWithinChannel),
        count_(static_cast<double>(within_ ? op.size * op.size : op.size)),
        batch_(site.input(0)[0]),
        channels_(site.input(0)[1]),
        height_(site.input(0)[2]),
        width_(site.input(0)[3]) {
    if (site.training) scale_.resize(ElementCount(site.input(0)));
  }

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    ForEach(pool, [&](int64_t channel, int64_t i, int64_t at) {
      double squares = 0;
      Around(channel, i, at, [&](int64_t other) {
        const double x = tensors.inputs[0][other];
        squares += x * x;
      });
      const double scale = op_.k + op_.alpha / count_ * squares;
      tensors.output[at] = static_cast<float>(tensors.inputs[0][at] * std::pow(scale, -op_.beta));
      if (!scale_.empty()) scale_[at] = scale;
    });
  }

  // With s the scale and n the window's elements: dx = dy · s^-beta - 2 · alpha · beta / n · x · Σ
  // dy · x · s^(-beta - 1), summed over the elements whose window contains this one.
  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    const std::span<const float> x = tensors.inputs[0], dy = tensors.output_gradient;
    std::vector<double> falloff(x.size());
    pool.Split(static_cast<int64_t>(x.size()), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) falloff[at] = std::pow(scale_[at], -op_.beta);
    });
    const double factor = 2 * op_.alpha * op_.beta / count_;
    ForEach(pool, [&](int64_t channel, int64_t i, int64_t at) {
      double sum = 0;
      Around(channel, i, at, [&](int64_t other) {
        sum += dy[other] * static_cast<double>(x[other]) * falloff[other] / scale_[other];
      });
      AddTo(tensors.input_gradients[0][at], dy[at] * falloff[at] - factor * x[at] * sum);
    });
  }

 private:
  template <class Visit>
  void ForEach(ThreadPool& pool, const Visit& visit) const {
    pool.Run(batch_ * channels_, [&](int64_t piece, int64_t) {
      const int64_t plane = height_ * width_;
      for (int64_t i = 0; i < plane; ++i) visit(piece % channels_, i, piece * plane + i);
    });
  }

  // Visits every element of the window around element `at`, which has index i in its channel.
  template <class Visit>
  void Around(int64_t channel, int64_t i, int64_t at, const Visit& visit) const {
    if (!within_) {
      const int64_t last = std::min(channels_ - 1, channel + half_);
      for (int64_t c = std::max<int64_t>(0, channel - half_); c <= last; ++c)
        visit(at + (c - channel) * height_ * width_);
      return;
    }
    const int64_t row = i / width_, column = i % width_;
    for (int64_t h = std::max<int64_t>(0, row - half_); h <= std::min(height_ - 1, row + half_);
         ++h) {
      for (int64_t w = std::max<int64_t>(0, column - half_);
           w <= std::min(width_ - 1, column + half_); ++w)
        visit(at + (h - row) * width_ + w - column);
    }
  }

  const Lrn op_;
  const int64_t half_;
  const bool within_;
  const double count_;  // elements of a window
  const int64_t batch_, channels_, height_, width_;
  std::vector<double> scale_;
};

}  // namespace

std::unique_ptr<Kernel> MakeLrn(const Lrn& op, const KernelSite& site) {
  return std::make_unique<LrnKernel>(op, site);
}

}  // namespace tench
