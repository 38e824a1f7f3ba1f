// SPDX-License-Identifier: Apache-2.0
#include "net/op_shape.h"

#include <cmath>
#include <limits>

#include "net/fill.h"
#include "net/op_traits.h"

namespace tench {
namespace {

Status CheckSize(std::string_view what, int64_t value, int64_t low = 1) {
  if (value >= low && value <= kMaxSize) return Ok();
  return Failed("{} is {}; it must be from {} to {}", what, value, low, kMaxSize);
}

Status CheckSize(std::string_view what, Hw value, int64_t low = 1) {
  TENCH_TRY(CheckSize(what, value.h, low));
  return CheckSize(what, value.w, low);
}

Status CheckReal(std::string_view what, bool good, double value, std::string_view range) {
  if (std::isfinite(value) && good) return Ok();
  return Failed("{} is {}; it must be {}", what, value, range);
}

// The values of an integer fill; both bounds are inclusive.
struct Range {
  int64_t low = 0, high = 0;
};
Result<Range> IntegerRange(const Fill& fill, int64_t lowest) {
  Range range;
  if (fill.kind == FillKind::kInteger) {
    range = {static_cast<int64_t>(fill.a), static_cast<int64_t>(fill.b) - 1};
  } else if (fill.kind == FillKind::kConstant && fill.a == std::floor(fill.a) &&
             std::abs(fill.a) <= kMaxSize) {
    range = {static_cast<int64_t>(fill.a), static_cast<int64_t>(fill.a)};
  } else {
    return Failed("its fill must be an integer fill");
  }
  if (range.low < lowest)
    return Failed("its fill reaches down to {}; the lowest value is {}", range.low, lowest);
  return range;
}

struct ShapeRule {
  std::span<const TypedLayer* const> inputs;
  int64_t batch;

  const Shape& ShapeOf(size_t i) const { return inputs[i]->output.shape; }

  Status Arity(std::string_view op, size_t count) const {
    if (inputs.size() == count) return Ok();
    return Failed("{} takes {} input{}, not {}", op, count, count == 1 ? "" : "s", inputs.size());
  }

  // Checks that input i is f32 and has one of the given ranks.
  Status Numbers(size_t i, std::initializer_list<size_t> ranks, std::string_view form) const {
    const TypedLayer& input = *inputs[i];
    if (IsLoss(input.layer.op))
      return Failed("input '{}' is a loss, which no layer can read", input.layer.name);
    if (input.output.dtype != DType::kF32)
      return Failed("input '{}' has integers; it must be f32", input.layer.name);
    for (size_t rank : ranks) {
      if (ShapeOf(i).size() == rank) return Ok();
    }
    return Failed("input '{}' is {}; it must be {}", input.layer.name, ToString(ShapeOf(i)), form);
  }
  Status AnyNumbers(size_t i) const { return Numbers(i, {2, 3, 4}, "(N, …)"); }
  Status Image(size_t i) const { return Numbers(i, {4}, "(N, C, H, W)"); }

  Result<Range> Integers(size_t i, InputRole role, std::string_view role_name) const {
    const Input* source = std::get_if<Input>(&inputs[i]->layer.op);
    if (source == nullptr || source->role != role) {
      return Failed("input '{}' must be an input layer with the role '{}'", inputs[i]->layer.name,
                    role_name);
    }
    return IntegerRange(source->fill, role == InputRole::kLengths ? 1 : 0);
  }

  static TensorType F32(Shape shape) { return {DType::kF32, std::move(shape)}; }

  Result<TensorType> Same(std::string_view op) const {
    TENCH_TRY(Arity(op, 1));
    TENCH_TRY(AnyNumbers(0));
    return inputs[0]->output;
  }

  // Two inputs of the same shape to a scalar.
  Result<TensorType> ElementLoss(std::string_view op, double weight) const {
    TENCH_TRY(Arity(op, 2));
    TENCH_TRY(AnyNumbers(0));
    TENCH_TRY(AnyNumbers(1));
    if (ShapeOf(0) != ShapeOf(1)) {
      return Failed("values are {} but targets are {}", ToString(ShapeOf(0)), ToString(ShapeOf(1)));
    }
    TENCH_TRY(CheckReal("loss_weight", weight > 0, weight, "above 0"));
    return F32({});
  }

  Result<TensorType> operator()(const Input& op) const {
    TENCH_TRY(Arity("input", 0));
    TENCH_TRY(CheckFill(op.fill));
    for (int64_t size : op.shape) TENCH_TRY(CheckSize("a size of its shape", size));
    Shape shape{batch};
    shape.insert(shape.end(), op.shape.begin(), op.shape.end());
    if (op.role == InputRole::kData) {
      if (op.shape.empty() || op.shape.size() > 3)
        return Failed("data has 1, 2 or 3 sizes per sample, not {}", op.shape.size());
      if (op.fill.kind == FillKind::kXavier || op.fill.kind == FillKind::kMsra ||
          op.fill.kind == FillKind::kMsraFanOut) {
        return Failed("xavier and msra fill weights, not data");
      }
      return F32(shape);
    }
    const size_t rank = op.role == InputRole::kTokens ? 1 : 0;
    if (op.shape.size() != rank)
      return Failed("its shape must have {} sizes, not {}", rank, op.shape.size());
    TENCH_TRY(IntegerRange(op.fill, op.role == InputRole::kLengths ? 1 : 0));
    return TensorType{DType::kI32, shape};
  }

  Result<TensorType> operator()(const Convolution& op) const {
    TENCH_TRY(Arity("conv", 1));
    TENCH_TRY(Image(0));
    TENCH_TRY(CheckSize("out_channels", op.out_channels));
    TENCH_TRY(CheckSize("kernel", op.kernel));
    TENCH_TRY(CheckSize("stride", op.stride));
    TENCH_TRY(CheckSize("pad", op.pad, 0));
    TENCH_TRY(CheckSize("dilation", op.dilation));
    TENCH_TRY(CheckSize("groups", op.groups));
    const Shape& in = ShapeOf(0);
    if (in[1] % op.groups != 0)
      return Failed("{} groups do not divide the {} input channels", op.groups, in[1]);
    if (op.out_channels % op.groups != 0)
      return Failed("{} groups do not divide the {} output channels", op.groups, op.out_channels);
    const int64_t h = TENCH_TRY(Windows(in[2], op.kernel.h, op.stride.h, op.pad.h, op.dilation.h));
    const int64_t w = TENCH_TRY(Windows(in[3], op.kernel.w, op.stride.w, op.pad.w, op.dilation.w));
    return F32({batch, op.out_channels, h, w});
  }

  static Result<int64_t> Windows(int64_t size, int64_t kernel, int64_t stride, int64_t pad,
                                 int64_t dilation) {
    const int64_t extent = dilation * (kernel - 1) + 1;
    if (extent > size + 2 * pad)
      return Failed("a kernel of extent {} does not fit an input of {} + 2 * {}", extent, size,
                    pad);
    return (size + 2 * pad - extent) / stride + 1;
  }

  Result<TensorType> operator()(const Pooling& op) const {
    TENCH_TRY(Arity("pool", 1));
    TENCH_TRY(Image(0));
    const Shape& in = ShapeOf(0);
    if (op.global) {
      Pooling plain;
      plain.mode = op.mode;
      plain.global = true;
      if (op != plain) return Failed("a global pool has no kernel, stride, pad or ceil_mode");
      return F32({batch, in[1], 1, 1});
    }
    TENCH_TRY(CheckSize("kernel", op.kernel));
    TENCH_TRY(CheckSize("stride", op.stride));
    TENCH_TRY(CheckSize("pad", op.pad, 0));
    const int64_t h =
        TENCH_TRY(PoolWindows(in[2], op.kernel.h, op.stride.h, op.pad.h, op.ceil_mode));
    const int64_t w =
        TENCH_TRY(PoolWindows(in[3], op.kernel.w, op.stride.w, op.pad.w, op.ceil_mode));
    return F32({batch, in[1], h, w});
  }

  // With pad < kernel and no window that starts beyond the input, no window is empty.
  static Result<int64_t> PoolWindows(int64_t size, int64_t kernel, int64_t stride, int64_t pad,
                                     bool ceil_mode) {
    if (pad >= kernel) return Failed("pad {} must be below the kernel's {}", pad, kernel);
    if (!ceil_mode) return Windows(size, kernel, stride, pad, 1);
    const int64_t room = size + 2 * pad - kernel + stride - 1;
    if (room < 0)
      return Failed("a kernel of extent {} does not fit an input of {} + 2 * {}", kernel, size,
                    pad);
    int64_t windows = room / stride + 1;
    if ((windows - 1) * stride >= size + pad) --windows;
    return windows;
  }

  Result<TensorType> operator()(const Lrn& op) const {
    TENCH_TRY(Arity("lrn", 1));
    TENCH_TRY(Image(0));
    TENCH_TRY(CheckSize("size", op.size));
    if (op.size % 2 == 0) return Failed("size is {}; it must be odd", op.size);
    TENCH_TRY(CheckReal("alpha", op.alpha >= 0, op.alpha, "at least 0"));
    TENCH_TRY(CheckReal("beta", true, op.beta, "finite"));
    TENCH_TRY(CheckReal("k", op.k > 0, op.k, "above 0"));
    return inputs[0]->output;
  }

  Result<TensorType> operator()(const Relu& op) const {
    TENCH_TRY(CheckReal("negative_slope", true, op.negative_slope, "finite"));
    return Same("relu");
  }
  Result<TensorType> operator()(const Sigmoid&) const { return Same("sigmoid"); }
  Result<TensorType> operator()(const Tanh&) const { return Same("tanh"); }
  Result<TensorType> operator()(const Power& op) const {
    TENCH_TRY(CheckReal("power", true, op.power, "finite"));
    TENCH_TRY(CheckReal("scale", true, op.scale, "finite"));
    TENCH_TRY(CheckReal("shift", true, op.shift, "finite"));
    return Same("power");
  }

  Result<TensorType> operator()(const FullyConnected& op) const {
    TENCH_TRY(Arity("fc", 1));
    TENCH_TRY(Numbers(0, {2}, "(N, F): put a flatten before it"));
    TENCH_TRY(CheckSize("out_features", op.out_features));
    return F32({batch, op.out_features});
  }

  Result<TensorType> operator()(const Dropout& op) const {
    TENCH_TRY(
        CheckReal("ratio", op.ratio >= 0 && op.ratio < 1, op.ratio, "at least 0 and below 1"));
    return Same("dropout");
  }

  Result<TensorType> operator()(const Concat&) const {
    if (inputs.size() < 2) return Failed("concat takes two or more inputs, not {}", inputs.size());
    TENCH_TRY(AnyNumbers(0));
    Shape sum = ShapeOf(0);
    for (size_t i = 1; i < inputs.size(); ++i) {
      TENCH_TRY(AnyNumbers(i));
      Shape other = ShapeOf(i);
      const int64_t size = other[1];
      other[1] = ShapeOf(0)[1];
      if (other != ShapeOf(0)) {
        return Failed("input '{}' is {} and '{}' is {}: they may differ in the second size only",
                      inputs[0]->layer.name, ToString(ShapeOf(0)), inputs[i]->layer.name,
                      ToString(ShapeOf(i)));
      }
      sum[1] += size;
    }
    return F32(sum);
  }

  Result<TensorType> operator()(const Slice& op) const {
    TENCH_TRY(Arity("slice", 1));
    TENCH_TRY(AnyNumbers(0));
    Shape part = ShapeOf(0);
    if (op.begin < 0 || op.begin >= op.end || op.end > part[1])
      return Failed("begin {} and end {} must be a part of the second size, 0 to {}", op.begin,
                    op.end, part[1]);
    part[1] = op.end - op.begin;
    return F32(part);
  }

  // Two or more inputs of the same shape, which is the output's shape.
  Result<TensorType> ElementWise(std::string_view op) const {
    if (inputs.size() < 2) return Failed("{} takes two or more inputs, not {}", op, inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      TENCH_TRY(AnyNumbers(i));
      if (ShapeOf(i) == ShapeOf(0)) continue;
      return Failed("input '{}' is {} but '{}' is {}", inputs[0]->layer.name, ToString(ShapeOf(0)),
                    inputs[i]->layer.name, ToString(ShapeOf(i)));
    }
    return inputs[0]->output;
  }

  Result<TensorType> operator()(const Add& op) const {
    if (!op.coefficients.empty() && op.coefficients.size() != inputs.size())
      return Failed("there are {} coefficients for {} inputs", op.coefficients.size(),
                    inputs.size());
    for (const double each : op.coefficients)
      TENCH_TRY(CheckReal("a coefficient", true, each, "finite"));
    return ElementWise("add");
  }
  Result<TensorType> operator()(const Multiply&) const { return ElementWise("multiply"); }
  Result<TensorType> operator()(const Maximum&) const { return ElementWise("maximum"); }

  Result<TensorType> operator()(const Flatten&) const {
    TENCH_TRY(Same("flatten"));
    return F32({batch, ElementCount(ShapeOf(0)) / batch});
  }

  Result<TensorType> operator()(const Reshape& op) const {
    TENCH_TRY(Same("reshape"));
    if (op.shape.empty() || op.shape.size() > 3)
      return Failed("shape has 1, 2 or 3 sizes per sample, not {}", op.shape.size());
    for (int64_t size : op.shape) TENCH_TRY(CheckSize("a size of its shape", size));
    if (ElementCount(op.shape) != ElementCount(ShapeOf(0)) / batch) {
      return Failed("a sample of input '{}' is {}, which does not fill {}", inputs[0]->layer.name,
                    ToString({ShapeOf(0).begin() + 1, ShapeOf(0).end()}), ToString(op.shape));
    }
    Shape shape{batch};
    shape.insert(shape.end(), op.shape.begin(), op.shape.end());
    return F32(shape);
  }

  // One input with channels.
  Result<TensorType> Channels(std::string_view op) const {
    TENCH_TRY(Arity(op, 1));
    TENCH_TRY(Numbers(0, {2, 4}, "(N, F) or (N, C, H, W)"));
    return inputs[0]->output;
  }

  Result<TensorType> operator()(const Scale&) const { return Channels("scale"); }
  Result<TensorType> operator()(const Softmax&) const { return Channels("softmax"); }

  Result<TensorType> operator()(const BatchNorm& op) const {
    TENCH_TRY(Channels("batch_norm"));
    TENCH_TRY(CheckReal("eps", op.eps > 0, op.eps, "above 0"));
    TENCH_TRY(
        CheckReal("momentum", op.momentum >= 0 && op.momentum <= 1, op.momentum, "from 0 to 1"));
    return inputs[0]->output;
  }

  Result<TensorType> operator()(const Embedding& op) const {
    TENCH_TRY(Arity("embedding", 1));
    TENCH_TRY(CheckSize("vocabulary", op.vocabulary));
    TENCH_TRY(CheckSize("dimension", op.dimension));
    const Range tokens = TENCH_TRY(Integers(0, InputRole::kTokens, "tokens"));
    if (tokens.high >= op.vocabulary)
      return Failed("tokens reach {} but the vocabulary is {}", tokens.high, op.vocabulary);
    return F32({batch, ShapeOf(0)[1], op.dimension});
  }

  Result<TensorType> operator()(const Lstm& op) const {
    TENCH_TRY(Arity("lstm", 1));
    TENCH_TRY(Numbers(0, {3}, "(N, T, F)"));
    TENCH_TRY(CheckSize("hidden", op.hidden));
    return F32({batch, ShapeOf(0)[1], op.hidden});
  }

  Result<TensorType> operator()(const MeanOverTime&) const {
    TENCH_TRY(Arity("mean_over_time", 2));
    TENCH_TRY(Numbers(0, {3}, "(N, T, F)"));
    const Range lengths = TENCH_TRY(Integers(1, InputRole::kLengths, "lengths"));
    if (lengths.high > ShapeOf(0)[1])
      return Failed("lengths reach {} but there are {} steps", lengths.high, ShapeOf(0)[1]);
    return F32({batch, ShapeOf(0)[2]});
  }

  Result<TensorType> operator()(const SoftmaxCrossEntropy& op) const {
    TENCH_TRY(Arity("softmax_cross_entropy", 2));
    TENCH_TRY(
        Numbers(0, {2}, "(N, K), a label for each sample: labels of each pixel are not supported"));
    const Range labels = TENCH_TRY(Integers(1, InputRole::kLabel, "label"));
    if (labels.high >= ShapeOf(0)[1] &&
        !(labels.low == labels.high && op.ignore_label == labels.high))
      return Failed("labels reach {} but there are {} scores", labels.high, ShapeOf(0)[1]);
    if (op.ignore_label && std::abs(*op.ignore_label) > kMaxSize)
      return Failed("ignore_label is {}; it must be from -{} to {}", *op.ignore_label, kMaxSize,
                    kMaxSize);
    TENCH_TRY(CheckReal("loss_weight", op.loss_weight > 0, op.loss_weight, "above 0"));
    return F32({});
  }

  Result<TensorType> operator()(const SigmoidCrossEntropy& op) const {
    return ElementLoss("sigmoid_cross_entropy", op.loss_weight);
  }
  Result<TensorType> operator()(const MeanSquaredError& op) const {
    return ElementLoss("mean_squared_error", op.loss_weight);
  }
};

}  // namespace

Result<TensorType> OutputType(const Op& op, std::span<const TypedLayer* const> inputs,
                              int64_t batch) {
  const TensorType type = TENCH_TRY(std::visit(ShapeRule{inputs, batch}, op));
  TENCH_TRY(CheckShape(type.shape, "its output"));
  return type;
}

Status CheckShape(const Shape& shape, std::string_view what) {
  for (int64_t size : shape) {
    if (size < 1) return Failed("{} would be {}", what, ToString(shape));
  }
  if (ElementCount(shape) > kMaxElements) {
    return Failed("{} would be {}: more than the {} elements that one tensor may have", what,
                  ToString(shape), kMaxElements);
  }
  return Ok();
}

}  // namespace tench
