// SPDX-License-Identifier: Apache-2.0
// Layers with a direct MXNet operator.
#include <algorithm>

#include "workers/mxnet/lowering.h"

namespace tench::mxnet {
namespace {

std::string Pair(Hw size) { return fmt::format("({}, {})", size.h, size.w); }
std::string Flag(bool value) { return value ? "True" : "False"; }

struct PoolExtent {
  // Numbers of windows: required by the network, and MXNet's rounded down and up.
  int64_t kernel = 1, wanted = 1, down = 1, up = 1;
};

PoolExtent ExtentOf(int64_t size, int64_t kernel, int64_t stride, int64_t pad, int64_t wanted) {
  const int64_t padded = size + 2 * pad;
  // A kernel larger than the padded image has one window over all of it; MXNet rejects such a
  // kernel.
  const int64_t clipped = std::min(kernel, padded);
  const int64_t room = padded - clipped;
  return {clipped, wanted, room / stride + 1, (room + stride - 1) / stride + 1};
}

}  // namespace

Result<Symbol> Lowering::Lower(size_t i, const Convolution& op) {
  std::vector<Symbol> inputs = {TENCH_TRY(In(i)), TENCH_TRY(Weight(i, 0))};
  if (op.bias) inputs.push_back(TENCH_TRY(Weight(i, 1)));
  return Apply(i, "Convolution",
               {{"kernel", Pair(op.kernel)},
                {"stride", Pair(op.stride)},
                {"pad", Pair(op.pad)},
                {"dilate", Pair(op.dilation)},
                {"num_filter", std::to_string(op.out_channels)},
                {"num_group", std::to_string(op.groups)},
                {"no_bias", Flag(!op.bias)}},
               inputs);
}

// MXNet rounds both dimensions down ("valid", which oneDNN computes) or both up ("full"), and drops
// no window. If one dimension needs each, the extra row or column is sliced off. Averages that
// round up are padded explicitly and count elements inside the image: MXNet chooses oneDNN for the
// backward pass by the shape of the output gradient, and where that choice is wrong oneDNN divides
// by the whole kernel in windows at the border.
Result<Symbol> Lowering::Lower(size_t i, const Pooling& op) {
  Symbol in = TENCH_TRY(In(i));
  const char* const kind = op.mode == PoolMode::kMax ? "max" : "avg";
  if (op.global)
    return Apply(i, "Pooling", {{"kernel", "(1, 1)"}, {"global_pool", "True"}, {"pool_type", kind}},
                 {in});
  const Shape& from = graph_.InputType(i, 0).shape;
  const Shape& to = graph_.layers[i].output.shape;
  const PoolExtent h = ExtentOf(from[2], op.kernel.h, op.stride.h, op.pad.h, to[2]);
  const PoolExtent w = ExtentOf(from[3], op.kernel.w, op.stride.w, op.pad.w, to[3]);
  const bool valid = h.down == h.wanted && w.down == w.wanted;
  Hw pad = op.pad;
  const bool average_up = !valid && op.mode == PoolMode::kAvg;
  if (average_up && pad != Hw{0, 0}) {
    const std::string widths = fmt::format("(0, 0, 0, 0, {0}, {0}, {1}, {1})", pad.h, pad.w);
    in = TENCH_TRY(Apply(i, "Pad",
                         {{"mode", "constant"}, {"constant_value", "0"}, {"pad_width", widths}},
                         {in}, ".padded"));
    pad = {0, 0};
  }
  Symbol pool = TENCH_TRY(Apply(i, "Pooling",
                                {{"kernel", Pair({h.kernel, w.kernel})},
                                 {"stride", Pair(op.stride)},
                                 {"pad", Pair(pad)},
                                 {"pool_type", kind},
                                 {"pooling_convention", valid ? "valid" : "full"},
                                 {"count_include_pad", Flag(!average_up)}},
                                {in}));
  if (valid || (h.up == h.wanted && w.up == w.wanted)) return pool;
  return Apply(i, "slice",
               {{"begin", "(None, None, 0, 0)"},
                {"end", fmt::format("(None, None, {}, {})", h.wanted, w.wanted)}},
               {pool}, ".cut");
}

Result<Symbol> Lowering::Lower(size_t i, const Lrn& op) {
  if (op.region == LrnRegion::kWithinChannel) return LrnWithin(i, op);
  const Symbol in = TENCH_TRY(In(i));
  return Apply(i, "LRN",
               {{"nsize", std::to_string(op.size)},
                {"alpha", fmt::format("{}", op.alpha)},
                {"beta", fmt::format("{}", op.beta)},
                {"knorm", fmt::format("{}", op.k)}},
               {in});
}

Result<Symbol> Lowering::Activation(size_t i, const char* kind) {
  const Symbol in = TENCH_TRY(In(i));
  return Apply(i, "Activation", {{"act_type", kind}}, {in});
}

Result<Symbol> Lowering::Lower(size_t i, const FullyConnected& op) {
  std::vector<Symbol> inputs = {TENCH_TRY(In(i)), TENCH_TRY(Weight(i, 0))};
  if (op.bias) inputs.push_back(TENCH_TRY(Weight(i, 1)));
  return Apply(i, "FullyConnected",
               {{"num_hidden", std::to_string(op.out_features)},
                {"no_bias", Flag(!op.bias)},
                {"flatten", "False"}},
               inputs);
}

Result<Symbol> Lowering::Lower(size_t i, const Dropout& op) {
  const Symbol in = TENCH_TRY(In(i));
  if (!options_.dropout || !training() || op.ratio == 0) return in;
  return Apply(i, "Dropout", {{"p", fmt::format("{}", op.ratio)}, {"mode", "training"}}, {in});
}

Result<Symbol> Lowering::Lower(size_t i, const Concat&) {
  const std::vector<Symbol> inputs = TENCH_TRY(Ins(i));
  return Apply(i, "Concat", {{"num_args", std::to_string(inputs.size())}, {"dim", "1"}}, inputs);
}

Result<Symbol> Lowering::Lower(size_t i, const Add& op) {
  std::vector<Symbol> inputs = TENCH_TRY(Ins(i));
  for (size_t k = 0; k < op.coefficients.size(); ++k)
    inputs[k] = TENCH_TRY(
        WithNumber(i, "_mul_scalar", inputs[k], op.coefficients[k], fmt::format(".term{}", k)));
  if (inputs.size() == 2) return Apply(i, "elemwise_add", {}, inputs);
  return Apply(i, "add_n", {{"num_args", std::to_string(inputs.size())}}, inputs);
}

// MXNet's momentum is the weight of the old value. Its running variance averages the biased
// variance of the batch: with m elements per channel it stays tench's times (m - 1) / m, if it
// starts so. Inference uses it unscaled.
Result<Symbol> Lowering::Lower(size_t i, const BatchNorm& op) {
  const Shape& shape = graph_.layers[i].output.shape;
  const size_t statistics = op.affine ? 2 : 0;
  std::vector<Symbol> inputs = {TENCH_TRY(In(i))};
  for (size_t k = 0; k < 2; ++k) {
    // Without affine parameters, scale and shift are the constants 1 and 0.
    const Attributes constant = {{"shape", fmt::format("({},)", shape[1])}};
    inputs.push_back(op.affine ? TENCH_TRY(Weight(i, k))
                               : TENCH_TRY(Apply(i, k == 0 ? "_ones" : "_zeros", constant, {},
                                                 k == 0 ? ".one" : ".zero")));
  }
  for (size_t k = 0; k < 2; ++k) inputs.push_back(TENCH_TRY(Weight(i, statistics + k)));
  const double elements = static_cast<double>(ElementCount(shape) / shape[1]);
  if (training() && elements > 1)
    lowered_.parameters[graph_.layers[i].parameters[statistics + 1]].scale =
        elements / (elements - 1);
  return Apply(i, "BatchNorm",
               {{"fix_gamma", Flag(!op.affine)},
                {"eps", fmt::format("{}", op.eps)},
                {"momentum", fmt::format("{}", 1 - op.momentum)}},
               inputs);
}

}  // namespace tench::mxnet
