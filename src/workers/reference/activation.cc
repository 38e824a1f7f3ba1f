// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "net/fill.h"
#include "workers/reference/kernel.h"

namespace tench {
namespace {

// y = Value(x), dx = dy · Slope(y): each of these functions knows its slope from its own output.
struct ReluFunction {
  // Written so that a NaN passes through.
  static double Value(double x) { return x < 0 ? 0.0 : x; }
  static double Slope(double y) { return y > 0 ? 1.0 : 0.0; }
};
struct SigmoidFunction {
  static double Value(double x) { return 1 / (1 + std::exp(-x)); }
  static double Slope(double y) { return y * (1 - y); }
};
struct TanhFunction {
  static double Value(double x) { return std::tanh(x); }
  static double Slope(double y) { return 1 - y * y; }
};

template <class Function>
class ActivationKernel final : public Kernel {
 public:
  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        tensors.output[i] = static_cast<float>(Function::Value(tensors.inputs[0][i]));
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        AddTo(tensors.input_gradients[0][i], tensors.output_gradient[i] * Function::Slope(tensors.output[i]));
      }
    });
  }
};

class DropoutKernel final : public Kernel {
 public:
  DropoutKernel(const Dropout& op, const KernelSite& site) : ratio_(op.ratio), name_(site.name()) {
    if (site.training) kept_.resize(ElementCount(site.output()));
  }

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) override {
    const bool active = step.training && step.dropout && ratio_ > 0;
    const double scale = active ? 1 / (1 - ratio_) : 1.0;
    const Generator generator(step.seed, fmt::format("{}.mask.{}", name_, step.step));
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const bool kept = !active || generator.Uniform(static_cast<uint64_t>(i)) >= ratio_;
        tensors.output[i] = kept ? static_cast<float>(tensors.inputs[0][i] * scale) : 0.0f;
        if (!kept_.empty()) kept_[i] = kept;
      }
    });
    scale_ = scale;
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        if (kept_[i]) AddTo(tensors.input_gradients[0][i], tensors.output_gradient[i] * scale_);
      }
    });
  }

 private:
  const double ratio_;
  const std::string name_;
  double scale_ = 1;
  std::vector<char> kept_;
};

}  // namespace

std::unique_ptr<Kernel> MakeRelu() { return std::make_unique<ActivationKernel<ReluFunction>>(); }
std::unique_ptr<Kernel> MakeSigmoid() { return std::make_unique<ActivationKernel<SigmoidFunction>>(); }
std::unique_ptr<Kernel> MakeTanh() { return std::make_unique<ActivationKernel<TanhFunction>>(); }
std::unique_ptr<Kernel> MakeDropout(const Dropout& op, const KernelSite& site) {
  return std::make_unique<DropoutKernel>(op, site);
}

}  // namespace tench
