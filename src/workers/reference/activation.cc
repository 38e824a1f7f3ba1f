// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "net/fill.h"
#include "workers/reference/kernel.h"

namespace tench {
namespace {

// y = Value(x), dx = dy · Slope(x, y).
struct ReluFunction {
  double negative_slope;
  // The comparisons propagate NaN.
  double Value(double x) const { return x > 0 ? x : x < 0 ? negative_slope * x : x; }
  double Slope(double x, double) const { return x > 0 ? 1.0 : negative_slope; }
};
struct SigmoidFunction {
  double Value(double x) const { return 1 / (1 + std::exp(-x)); }
  double Slope(double, double y) const { return y * (1 - y); }
};
struct TanhFunction {
  double Value(double x) const { return std::tanh(x); }
  double Slope(double, double y) const { return 1 - y * y; }
};
struct PowerFunction {
  Power op;
  double Value(double x) const { return std::pow(op.shift + op.scale * x, op.power); }
  double Slope(double x, double) const {
    const double factor = op.power * op.scale;
    return factor == 0 ? 0.0 : factor * std::pow(op.shift + op.scale * x, op.power - 1);
  }
};

template <class Function>
class ActivationKernel final : public Kernel {
 public:
  explicit ActivationKernel(Function function) : function_(function) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   tensors.output[i] = static_cast<float>(function_.Value(tensors.inputs[0][i]));
               });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    if (tensors.input_gradients[0].empty()) return;
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   AddTo(tensors.input_gradients[0][i],
                         tensors.output_gradient[i] *
                             function_.Slope(tensors.inputs[0][i], tensors.output[i]));
                 }
               });
  }

 private:
  const Function function_;
};

template <class Function>
std::unique_ptr<Kernel> MakeActivation(Function function) {
  return std::make_unique<ActivationKernel<Function>>(function);
}

class DropoutKernel final : public Kernel {
 public:
  DropoutKernel(const Dropout& op, const KernelSite& site) : ratio_(op.ratio), name_(site.name()) {
    if (site.training) kept_.resize(ElementCount(site.output()));
  }

  void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) override {
    const bool active = step.training && step.dropout && ratio_ > 0;
    const double scale = active ? 1 / (1 - ratio_) : 1.0;
    const Generator generator(step.seed, fmt::format("{}.mask.{}", name_, step.step));
    pool.Split(
        static_cast<int64_t>(tensors.output.size()), kElementGrain,
        [&](int64_t first, int64_t last) {
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
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   if (kept_[i])
                     AddTo(tensors.input_gradients[0][i], tensors.output_gradient[i] * scale_);
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

std::unique_ptr<Kernel> MakeRelu(const Relu& op) {
  return MakeActivation(ReluFunction{op.negative_slope});
}
std::unique_ptr<Kernel> MakeSigmoid() { return MakeActivation(SigmoidFunction{}); }
std::unique_ptr<Kernel> MakeTanh() { return MakeActivation(TanhFunction{}); }
std::unique_ptr<Kernel> MakePower(const Power& op) { return MakeActivation(PowerFunction{op}); }
std::unique_ptr<Kernel> MakeDropout(const Dropout& op, const KernelSite& site) {
  return std::make_unique<DropoutKernel>(op, site);
}

}  // namespace tench
