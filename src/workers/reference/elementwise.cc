// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/kernel.h"

namespace tench {
namespace {

// Also implements Flatten, as the sum of one input: the elements keep their order.
class SumKernel final : public Kernel {
 public:
  explicit SumKernel(std::vector<double> coefficients) : coefficients_(std::move(coefficients)) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   double sum = 0;
                   for (size_t k = 0; k < tensors.inputs.size(); ++k)
                     sum += Coefficient(k) * tensors.inputs[k][i];
                   tensors.output[i] = static_cast<float>(sum);
                 }
               });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (size_t k = 0; k < tensors.input_gradients.size(); ++k) {
                   const std::span<float> gradient = tensors.input_gradients[k];
                   if (gradient.empty()) continue;
                   for (int64_t i = first; i < last; ++i)
                     AddTo(gradient[i], Coefficient(k) * tensors.output_gradient[i]);
                 }
               });
  }

 private:
  double Coefficient(size_t input) const {
    return coefficients_.empty() ? 1.0 : coefficients_[input];
  }

  const std::vector<double> coefficients_;
};

class ProductKernel final : public Kernel {
 public:
  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   tensors.output[i] =
                       static_cast<float>(ProductBut(tensors, tensors.inputs.size(), i));
               });
  }

  // Recomputes the product of the other inputs: output / input would be 0 / 0 for an input of 0.
  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (size_t k = 0; k < tensors.input_gradients.size(); ++k) {
                   const std::span<float> gradient = tensors.input_gradients[k];
                   if (gradient.empty()) continue;
                   for (int64_t i = first; i < last; ++i)
                     AddTo(gradient[i], tensors.output_gradient[i] * ProductBut(tensors, k, i));
                 }
               });
  }

 private:
  static double ProductBut(const KernelTensors& tensors, size_t left_out, int64_t at) {
    double product = 1;
    for (size_t k = 0; k < tensors.inputs.size(); ++k) {
      if (k != left_out) product *= tensors.inputs[k][at];
    }
    return product;
  }
};

// Among equal inputs, the first gets the gradient.
class MaximumKernel final : public Kernel {
 public:
  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   tensors.output[i] = tensors.inputs[Largest(tensors, i)][i];
               });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    pool.Split(static_cast<int64_t>(tensors.output.size()), kElementGrain,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   const std::span<float> gradient = tensors.input_gradients[Largest(tensors, i)];
                   if (!gradient.empty()) AddTo(gradient[i], tensors.output_gradient[i]);
                 }
               });
  }

 private:
  // The comparison propagates NaN.
  static size_t Largest(const KernelTensors& tensors, int64_t at) {
    size_t largest = 0;
    for (size_t k = 1; k < tensors.inputs.size(); ++k) {
      const float best = tensors.inputs[largest][at], next = tensors.inputs[k][at];
      if (next > best || next != next) largest = k;
    }
    return largest;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeAdd(const Add& op) {
  return std::make_unique<SumKernel>(op.coefficients);
}
std::unique_ptr<Kernel> MakeFlatten() { return std::make_unique<SumKernel>(std::vector<double>()); }
std::unique_ptr<Kernel> MakeMultiply() { return std::make_unique<ProductKernel>(); }
std::unique_ptr<Kernel> MakeMaximum() { return std::make_unique<MaximumKernel>(); }

}  // namespace tench
