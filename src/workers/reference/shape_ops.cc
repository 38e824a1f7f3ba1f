// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

class ConcatKernel final : public Kernel {
 public:
  explicit ConcatKernel(const KernelSite& site)
      : batch_(site.output()[0]), width_(ElementCount(site.output()) / batch_) {
    for (size_t input = 0; input < site.inputs(); ++input)
      widths_.push_back(ElementCount(site.input(input)) / batch_);
  }

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(batch_, [&](int64_t sample, int64_t) {
      float* to = tensors.output.data() + sample * width_;
      for (size_t input = 0; input < widths_.size(); ++input) {
        to =
            std::copy_n(tensors.inputs[input].data() + sample * widths_[input], widths_[input], to);
      }
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    pool.Run(batch_, [&](int64_t sample, int64_t) {
      const float* from = tensors.output_gradient.data() + sample * width_;
      for (size_t input = 0; input < widths_.size(); ++input) {
        const std::span<float> gradient = tensors.input_gradients[input];
        if (!gradient.empty()) {
          for (int64_t i = 0; i < widths_[input]; ++i)
            AddTo(gradient[sample * widths_[input] + i], from[i]);
        }
        from += widths_[input];
      }
    });
  }

 private:
  const int64_t batch_, width_;
  std::vector<int64_t> widths_;  // elements per sample of each input
};

// A contiguous part of every sample.
class SliceKernel final : public Kernel {
 public:
  SliceKernel(const Slice& op, const KernelSite& site)
      : batch_(site.output()[0]),
        from_(ElementCount(site.input(0)) / batch_),
        width_(ElementCount(site.output()) / batch_) {
    begin_ = op.begin * (from_ / site.input(0)[1]);
  }

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(batch_, [&](int64_t sample, int64_t) {
      std::copy_n(tensors.inputs[0].data() + sample * from_ + begin_, width_,
                  tensors.output.data() + sample * width_);
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Run(batch_, [&](int64_t sample, int64_t) {
      for (int64_t i = 0; i < width_; ++i)
        AddTo(tensors.input_gradients[0][sample * from_ + begin_ + i],
              tensors.output_gradient[sample * width_ + i]);
    });
  }

 private:
  const int64_t batch_, from_, width_;  // elements per sample of the input and of the output
  int64_t begin_ = 0;
};

class MeanOverTimeKernel final : public Kernel {
 public:
  explicit MeanOverTimeKernel(const KernelSite& site)
      : batch_(site.input(0)[0]), time_(site.input(0)[1]), features_(site.input(0)[2]) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(batch_, [&](int64_t sample, int64_t) {
      const int64_t length = tensors.integers[1][sample];
      for (int64_t i = 0; i < features_; ++i) {
        double sum = 0;
        for (int64_t t = 0; t < length; ++t)
          sum += tensors.inputs[0][(sample * time_ + t) * features_ + i];
        tensors.output[sample * features_ + i] =
            static_cast<float>(sum / static_cast<double>(length));
      }
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Run(batch_, [&](int64_t sample, int64_t) {
      const int64_t length = tensors.integers[1][sample];
      for (int64_t t = 0; t < length; ++t) {
        for (int64_t i = 0; i < features_; ++i) {
          AddTo(tensors.input_gradients[0][(sample * time_ + t) * features_ + i],
                tensors.output_gradient[sample * features_ + i] / static_cast<double>(length));
        }
      }
    });
  }

 private:
  const int64_t batch_, time_, features_;
};

}  // namespace

std::unique_ptr<Kernel> MakeConcat(const KernelSite& site) {
  return std::make_unique<ConcatKernel>(site);
}
std::unique_ptr<Kernel> MakeSlice(const Slice& op, const KernelSite& site) {
  return std::make_unique<SliceKernel>(op, site);
}
std::unique_ptr<Kernel> MakeMeanOverTime(const KernelSite& site) {
  return std::make_unique<MeanOverTimeKernel>(site);
}

}  // namespace tench
