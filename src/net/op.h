// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ops of a network, as passive structs: what each computes is said here once, and every worker
// has to agree with it. Shapes are per batch, (N, C, H, W) for images, (N, F) for vectors, (N, T,
// F) for sequences. Every op has one output. Not aware of any framework, layout or device.

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

// How numbers are made from (seed, tensor name, index); see net/fill.h.
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

// What a source of data delivers into the network.
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

// Max ignores padding. Avg divides by the number of window elements inside the padded input (height
// + 2·pad; the part of a window that ceil mode lets run beyond it is not counted). Ceil mode is
// Caffe's: the output size is rounded up, then a last window that would start beyond input + pad is
// dropped. A global pool covers the whole image and has no other settings.
enum class PoolMode { kMax, kAvg };
struct Pooling {
  PoolMode mode = PoolMode::kMax;
  Hw kernel{1, 1}, stride{1, 1}, pad{0, 0};
  bool ceil_mode = false;
  bool global = false;
  bool operator==(const Pooling&) const = default;
};

// Across channels: y = x / (k + alpha / size · Σ x²)^beta over the `size` channels around, zeros
// outside. Within a channel: y = x / (k + alpha / size² · Σ x²)^beta over the size × size places
// around in the same channel, zeros outside. Caffe makes this of its average pooling with stride 1
// and pad (size - 1) / 2, whose divisor counts padding: for an odd size no window leaves the padded
// image, so the divisor is size² at the border too. Caffe ignores k there and adds 1.
enum class LrnRegion { kAcrossChannels, kWithinChannel };
struct Lrn {
  int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
  LrnRegion region = LrnRegion::kAcrossChannels;
  bool operator==(const Lrn&) const = default;
};

// x where that is above 0, else negative_slope · x; the slope at 0 itself is negative_slope.
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
// y = (shift + scale · x)^power, NaN where a base below 0 meets a fraction. dx = dy · power · scale
// · (shift + scale · x)^(power - 1), and 0 everywhere if power or scale is 0.
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

// While training each element is zero with probability `ratio`, and survivors are scaled by 1 / (1
// - ratio).
struct Dropout {
  double ratio = 0.5;
  bool operator==(const Dropout&) const = default;
};

struct Concat {
  bool operator==(const Concat&) const = default;
};  // along dimension 1, two or more inputs
// The part [begin, end) of dimension 1. What cuts a tensor into several pieces is several of these.
struct Slice {
  int64_t begin = 0, end = 0;
  bool operator==(const Slice&) const = default;
};

// Element by element, two or more inputs of one shape.
// Add: Σ coefficient · input, with one coefficient per input, or none for plain sums.
struct Add {
  std::vector<double> coefficients;
  bool operator==(const Add&) const = default;
};
struct Multiply {
  bool operator==(const Multiply&) const = default;
};
// The gradient goes to the largest input; which one where several are equal is left to the worker,
// since frameworks differ.
struct Maximum {
  bool operator==(const Maximum&) const = default;
};

struct Flatten {
  bool operator==(const Flatten&) const = default;
};  // (N, …) to (N, product)
// (N, …) to (N, shape…): the same elements in the logical order.
struct Reshape {
  Shape shape;  // of one sample: one to three sizes
  bool operator==(const Reshape&) const = default;
};

// Per channel (dimension 1 of (N, C, H, W) or (N, F)). Training normalises by the batch's mean and
// biased variance and moves the running statistics: running = (1 - momentum) · running + momentum ·
// batch, with the unbiased variance. Inference uses the running ones. Weight (scale) and bias
// (shift) are parameters, unless `affine` is false: then it only normalises, as Caffe's BatchNorm
// layer does. running_mean and running_var are state.
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

// Over dimension 1 of (N, F) or (N, C, H, W). No loss: that is SoftmaxCrossEntropy.
struct Softmax {
  bool operator==(const Softmax&) const = default;
};

// Inputs: tokens (N, T). Weight (vocabulary, dimension). Output (N, T, dimension).
struct Embedding {
  int64_t vocabulary = 0, dimension = 0;
  bool operator==(const Embedding&) const = default;
};

// Input (N, T, F), output (N, T, hidden), initial state zero. Gates in the order i, f, g, o with
// one bias: z = x·weight_inputᵀ + h·weight_hiddenᵀ + bias; c = σ(f)·c + σ(i)·tanh(g); h =
// σ(o)·tanh(c). weight_input (4·hidden, F), weight_hidden (4·hidden, hidden), bias (4·hidden).
struct Lstm {
  int64_t hidden = 0;
  bool operator==(const Lstm&) const = default;
};

// Inputs: sequence (N, T, F), lengths (N). Output (N, F): the mean of the first `length` steps of
// each sequence.
struct MeanOverTime {
  bool operator==(const MeanOverTime&) const = default;
};

// Losses: the output is a scalar; the network's loss is the sum of all, each already times its
// weight. Inputs: scores (N, K), labels (N). Mean of -log softmax[label] over the samples whose
// label is not `ignore_label`; over none it is 0, with zero gradients (Caffe's normalisation
// VALID). An auxiliary head is cut in the forward phase.
struct SoftmaxCrossEntropy {
  double loss_weight = 1;
  bool auxiliary = false;
  std::optional<int64_t> ignore_label = {};  // may lie outside the classes: -1, 255
  bool operator==(const SoftmaxCrossEntropy&) const = default;
};
// Inputs: scores, targets of the same shape. Sum over the elements, mean over the batch.
struct SigmoidCrossEntropy {
  double loss_weight = 1;
  bool operator==(const SigmoidCrossEntropy&) const = default;
};
// Inputs: values, targets of the same shape. Mean over all elements of the squared difference.
// Caffe's EuclideanLoss, which is the sum over the elements of a sample, mean over the batch,
// halved, is this one with half the elements of a sample as its weight.
struct MeanSquaredError {
  double loss_weight = 1;
  bool operator==(const MeanSquaredError&) const = default;
};

using Op = std::variant<Input, Convolution, Pooling, Lrn, Relu, Sigmoid, Tanh, Power,
                        FullyConnected, Dropout, Concat, Slice, Add, Multiply, Maximum, Flatten,
                        Reshape, BatchNorm, Scale, Softmax, Embedding, Lstm, MeanOverTime,
                        SoftmaxCrossEntropy, SigmoidCrossEntropy, MeanSquaredError>;

// "conv", "pool", "lrn", "relu", "fc", …: the word used in JSON, in `tench show` and in a worker's
// description.
std::string_view OpName(const Op& op);
// Every op's word, in the order of the variant.
std::span<const std::string> OpNames();

// What a worker must have for an op: its word, and for the fields that came later than the op a
// word each where they are off their default: "relu", "relu.negative_slope". So a worker that knows
// only the older form is never wrong: it refuses.
std::vector<std::string> OpNeeds(const Op& op);
// Every word that OpNeeds can give: what a worker lists that can do all.
std::span<const std::string> OpAbilities();

bool IsLoss(const Op& op);
double LossWeight(const Op& op);  // 0 for what is no loss

template <class... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overload(Visitors...) -> Overload<Visitors...>;

}  // namespace tench
