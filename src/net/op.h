// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ops of a network as passive structs. The comment of a struct defines the op; every worker
// must compute exactly that. Every op has one output.
//
// Logical shapes include the batch: (N, C, H, W) for images, (N, F) for vectors, (N, T, F) for
// sequences. Not aware of any framework, memory layout or device.
//
// To add an op, add it to the variant and follow the compiler: op_traits.h explains the rule.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "net/tensor.h"

namespace tench {

struct Hw {
  int64_t h = 1, w = 1;
  bool operator==(const Hw&) const = default;
};

// The distribution of a tensor's initial values; net/fill.h generates them from (seed, tensor name,
// index).
enum class FillKind {
  kConstant,    // a
  kUniform,     // [a, b)
  kGaussian,    // mean a, standard deviation b
  kXavier,      // uniform in ±sqrt(3 / fan_in)
  kMsra,        // Gaussian, standard deviation sqrt(2 / fan_in)
  kMsraFanOut,  // Gaussian, standard deviation sqrt(2 / fan_out)
  kInteger,     // uniform integers in [a, b)
};
struct Fill {
  FillKind kind = FillKind::kConstant;
  double a = 0, b = 0;
  bool operator==(const Fill&) const = default;
};

// The meaning of a network input.
enum class InputRole {
  kData,     // f32, (N, shape…)
  kLabel,    // i32, (N): class numbers
  kTokens,   // i32, (N, T)
  kLengths,  // i32, (N): how many of the T tokens count, 1…T
};
struct Input {
  InputRole role = InputRole::kData;
  Shape shape;  // of one sample: {1, 28, 28}; {} for labels and lengths; {T} for tokens
  Fill fill;    // of synthetic data
  bool operator==(const Input&) const = default;
};

// Cross-correlation (filters are not flipped). Weight (out, in / groups, kh, kw), bias (out).
struct Convolution {
  int64_t out_channels = 0;
  Hw kernel{1, 1}, stride{1, 1}, pad{0, 0}, dilation{1, 1};
  int64_t groups = 1;
  bool bias = true;
  bool operator==(const Convolution&) const = default;
};

// Max pooling ignores padding. Average pooling divides by the number of window elements inside the
// padded input (height + 2·pad); elements that ceil mode adds beyond it do not count.
// Ceil mode is Caffe's: the output size is rounded up, then a last window that would start beyond
// input + pad is dropped. Global pooling covers the whole image and has no other settings.
enum class PoolMode { kMax, kAvg };
struct Pooling {
  PoolMode mode = PoolMode::kMax;
  Hw kernel{1, 1}, stride{1, 1}, pad{0, 0};
  bool ceil_mode = false;
  bool global = false;
  bool operator==(const Pooling&) const = default;
};

// Local response normalization; positions outside the image or the channels are zero.
//   across channels   y = x / (k + alpha / size · Σ x²)^beta over the `size` channels around x
//   within a channel  y = x / (k + alpha / size² · Σ x²)^beta over the size × size window around x
// Caffe implements the second with average pooling, stride 1 and pad (size - 1) / 2. Its divisor
// counts padding, and for an odd size no window leaves the padded image, so the divisor is size² at
// the border too. Caffe ignores k there and adds 1.
enum class LrnRegion { kAcrossChannels, kWithinChannel };
struct Lrn {
  int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
  LrnRegion region = LrnRegion::kAcrossChannels;
  bool operator==(const Lrn&) const = default;
};

// y = x for x > 0, else negative_slope · x. The derivative at 0 is negative_slope.
struct Relu {
  double negative_slope = 0;
  bool operator==(const Relu&) const = default;
};
struct Sigmoid {
  bool operator==(const Sigmoid&) const = default;
};
struct Tanh {
  bool operator==(const Tanh&) const = default;
};
// y = (shift + scale · x)^power; NaN for a negative base and a fractional exponent.
// dx = dy · power · scale · (shift + scale · x)^(power - 1), and 0 everywhere if power or scale is
// 0.
struct Power {
  double power = 1, scale = 1, shift = 0;
  bool operator==(const Power&) const = default;
};

// y = x Wᵀ + b. Input (N, F). Weight (out, F), bias (out).
struct FullyConnected {
  int64_t out_features = 0;
  bool bias = true;
  bool operator==(const FullyConnected&) const = default;
};

// In training, each element is zeroed with probability `ratio` and the others are scaled by
// 1 / (1 - ratio). In inference, the identity.
struct Dropout {
  double ratio = 0.5;
  bool operator==(const Dropout&) const = default;
};

// Along dimension 1, two or more inputs.
struct Concat {
  bool operator==(const Concat&) const = default;
};
// The range [begin, end) of dimension 1. A split into several pieces is several slices.
struct Slice {
  int64_t begin = 0, end = 0;
  bool operator==(const Slice&) const = default;
};

// Element-wise ops take two or more inputs of the same shape.
// Add: Σ coefficient · input, with one coefficient per input, or none for a plain sum.
struct Add {
  std::vector<double> coefficients;
  bool operator==(const Add&) const = default;
};
struct Multiply {
  bool operator==(const Multiply&) const = default;
};
// The gradient goes to the largest input. Frameworks break ties differently, so ties are
// unspecified.
struct Maximum {
  bool operator==(const Maximum&) const = default;
};

// (N, …) to (N, product).
struct Flatten {
  bool operator==(const Flatten&) const = default;
};
// (N, …) to (N, shape…): the same elements in logical order.
struct Reshape {
  Shape shape;  // of one sample: one to three sizes
  bool operator==(const Reshape&) const = default;
};

// Batch normalization per channel (dimension 1 of (N, C, H, W) or (N, F)).
// Training normalizes by the batch mean and the biased batch variance, and updates the running
// statistics with the unbiased variance: running = (1 - momentum) · running + momentum · batch.
// Inference normalizes by the running statistics.
// Weight (scale, C) and bias (shift, C) are parameters unless `affine` is false, as in Caffe's
// BatchNorm layer. running_mean and running_var (C) are state.
struct BatchNorm {
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = true;
  bool operator==(const BatchNorm&) const = default;
};

// y = weight · x + bias per channel (dimension 1 of (N, C, H, W) or (N, F)). Weight (C), bias (C).
struct Scale {
  bool bias = true;
  bool operator==(const Scale&) const = default;
};

// Over dimension 1 of (N, F) or (N, C, H, W). The loss is SoftmaxCrossEntropy.
struct Softmax {
  bool operator==(const Softmax&) const = default;
};

// Inputs: tokens (N, T). Weight (vocabulary, dimension). Output (N, T, dimension).
struct Embedding {
  int64_t vocabulary = 0, dimension = 0;
  bool operator==(const Embedding&) const = default;
};

// Input (N, T, F), output (N, T, hidden), initial state zero, one bias. Gates in the order i, f, g,
// o:
//   z = x·weight_inputᵀ + h·weight_hiddenᵀ + bias
//   c = σ(f)·c + σ(i)·tanh(g)
//   h = σ(o)·tanh(c)
// weight_input (4·hidden, F), weight_hidden (4·hidden, hidden), bias (4·hidden).
struct Lstm {
  int64_t hidden = 0;
  bool operator==(const Lstm&) const = default;
};

// Inputs: sequence (N, T, F), lengths (N). Output (N, F): the mean of the first `length` steps of
// each sequence.
struct MeanOverTime {
  bool operator==(const MeanOverTime&) const = default;
};

// Losses have a scalar output that already includes loss_weight. The network's loss is the sum of
// all losses.
//
// Inputs: scores (N, K), labels (N). Mean of -log softmax[label] over the samples whose label is
// not `ignore_label` (Caffe's normalization VALID). If no sample counts, the loss and the gradients
// are 0. The forward phase leaves auxiliary losses out.
struct SoftmaxCrossEntropy {
  double loss_weight = 1;
  bool auxiliary = false;
  std::optional<int64_t> ignore_label = {};  // may be outside [0, K): -1, 255
  bool operator==(const SoftmaxCrossEntropy&) const = default;
};
// Inputs: scores, targets of the same shape. Sum over the elements, mean over the batch.
struct SigmoidCrossEntropy {
  double loss_weight = 1;
  bool operator==(const SigmoidCrossEntropy&) const = default;
};
// Inputs: values, targets of the same shape. Mean of the squared difference over all elements.
// Caffe's EuclideanLoss is half the sum over a sample, averaged over the batch: this op with half
// the number of elements of a sample as loss_weight.
struct MeanSquaredError {
  double loss_weight = 1;
  bool operator==(const MeanSquaredError&) const = default;
};

using Op = std::variant<Input, Convolution, Pooling, Lrn, Relu, Sigmoid, Tanh, Power,
                        FullyConnected, Dropout, Concat, Slice, Add, Multiply, Maximum, Flatten,
                        Reshape, BatchNorm, Scale, Softmax, Embedding, Lstm, MeanOverTime,
                        SoftmaxCrossEntropy, SigmoidCrossEntropy, MeanSquaredError>;

// "conv", "pool", "lrn", "relu", "fc", …: the op's name in JSON, in `tench show` and in a worker's
// description.
std::string_view OpName(const Op& op);
// The names of all ops, in the order of the variant.
std::span<const std::string> OpNames();

// The abilities that a worker must list to run the op: its name, and "op.field" for each field that
// was added after the op and is not at its default ("relu", "relu.negative_slope"). A worker that
// was built before the field reports the op as unsupported instead of computing something else.
std::vector<std::string> OpNeeds(const Op& op);
// All abilities that OpNeeds can return.
std::span<const std::string> OpAbilities();

template <class... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overload(Visitors...) -> Overload<Visitors...>;

}  // namespace tench
