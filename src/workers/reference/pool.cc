// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {
namespace {

// One window along one axis: the pixels [first, last) that it covers, and its length inside the
// padded image, which is the divisor of avg.
struct Reach {
  int64_t first, last, padded_length;
};

Reach ReachOf(int64_t position, int64_t kernel, int64_t stride, int64_t pad, int64_t size) {
  const int64_t start = position * stride - pad;
  const int64_t padded_end = std::min(start + kernel, size + pad);
  return {std::max<int64_t>(start, 0), std::min(padded_end, size), padded_end - start};
}

// The geometry that max and avg share.
class PoolingKernel : public Kernel {
 public:
  PoolingKernel(const Pooling& op, const KernelSite& site)
      : planes_(site.input(0)[0] * site.input(0)[1]),
        in_{site.input(0)[2], site.input(0)[3]},
        out_{site.output()[2], site.output()[3]},
        kernel_(op.global ? in_ : op.kernel),
        stride_(op.global ? Hw{1, 1} : op.stride),
        pad_(op.global ? Hw{0, 0} : op.pad) {}

 protected:
  // Calls visit(offset of the output element, rows, columns) for each window of a plane.
  template <class Visit>
  void ForEachWindow(int64_t plane, const Visit& visit) const {
    for (int64_t y = 0; y < out_.h; ++y) {
      const Reach rows = ReachOf(y, kernel_.h, stride_.h, pad_.h, in_.h);
      for (int64_t x = 0; x < out_.w; ++x) {
        visit((plane * out_.h + y) * out_.w + x, rows,
              ReachOf(x, kernel_.w, stride_.w, pad_.w, in_.w));
      }
    }
  }

  int64_t in_plane() const { return in_.h * in_.w; }
  int64_t out_plane() const { return out_.h * out_.w; }

  const int64_t planes_;
  const Hw in_, out_, kernel_, stride_, pad_;
};

class MaxPoolingKernel final : public PoolingKernel {
 public:
  MaxPoolingKernel(const Pooling& op, const KernelSite& site) : PoolingKernel(op, site) {
    if (site.training) winners_.resize(planes_ * out_plane());
  }

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(planes_, [&](int64_t plane, int64_t) {
      const float* input = tensors.inputs[0].data() + plane * in_plane();
      ForEachWindow(plane, [&](int64_t at, const Reach& rows, const Reach& columns) {
        int64_t winner = rows.first * in_.w + columns.first;
        for (int64_t y = rows.first; y < rows.last; ++y) {
          for (int64_t x = columns.first; x < columns.last; ++x) {
            // Among equal maxima the first wins, and NaN propagates.
            const float value = input[y * in_.w + x];
            if (value > input[winner] || std::isnan(value)) winner = y * in_.w + x;
          }
        }
        tensors.output[at] = input[winner];
        if (!winners_.empty()) winners_[at] = static_cast<int32_t>(winner);
      });
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Run(planes_, [&](int64_t plane, int64_t) {
      float* gradient = tensors.input_gradients[0].data() + plane * in_plane();
      for (int64_t at = plane * out_plane(); at < (plane + 1) * out_plane(); ++at) {
        AddTo(gradient[winners_[at]], tensors.output_gradient[at]);
      }
    });
  }

 private:
  std::vector<int32_t> winners_;  // offsets within the input plane
};

class AveragePoolingKernel final : public PoolingKernel {
 public:
  using PoolingKernel::PoolingKernel;

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Run(planes_, [&](int64_t plane, int64_t) {
      const float* input = tensors.inputs[0].data() + plane * in_plane();
      ForEachWindow(plane, [&](int64_t at, const Reach& rows, const Reach& columns) {
        double sum = 0;
        for (int64_t y = rows.first; y < rows.last; ++y) {
          for (int64_t x = columns.first; x < columns.last; ++x) sum += input[y * in_.w + x];
        }
        tensors.output[at] = static_cast<float>(
            sum / static_cast<double>(rows.padded_length * columns.padded_length));
      });
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Run(planes_, [&](int64_t plane, int64_t) {
      float* gradient = tensors.input_gradients[0].data() + plane * in_plane();
      ForEachWindow(plane, [&](int64_t at, const Reach& rows, const Reach& columns) {
        const double share = tensors.output_gradient[at] /
                             static_cast<double>(rows.padded_length * columns.padded_length);
        for (int64_t y = rows.first; y < rows.last; ++y) {
          for (int64_t x = columns.first; x < columns.last; ++x)
            AddTo(gradient[y * in_.w + x], share);
        }
      });
    });
  }
};

}  // namespace

std::unique_ptr<Kernel> MakePooling(const Pooling& op, const KernelSite& site) {
  if (op.mode == PoolMode::kMax) return std::make_unique<MaxPoolingKernel>(op, site);
  return std::make_unique<AveragePoolingKernel>(op, site);
}

}  // namespace tench
