// SPDX-License-Identifier: Apache-2.0
// Elementwise and per-channel ops, slices and reshapes.
#include <cmath>

#include "base/text.h"
#include "workers/mxnet/lowering.h"

namespace tench::mxnet {
namespace {

std::string Tuple(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(std::to_string(size));
  return fmt::format("({})", Join(sizes, ", "));
}

}  // namespace

Result<std::vector<Symbol>> Lowering::Ins(size_t i) {
  std::vector<Symbol> inputs;
  for (size_t k = 0; k < graph_.layers[i].inputs.size(); ++k) inputs.push_back(TENCH_TRY(In(i, k)));
  return inputs;
}

Result<Symbol> Lowering::WithNumber(size_t i, const char* op, Symbol in, double number,
                                    const std::string& suffix) {
  return Apply(i, op, {{"scalar", fmt::format("{}", number)}}, {in}, suffix);
}

Result<Symbol> Lowering::Chain(size_t i, const char* op) {
  const std::vector<Symbol> inputs = TENCH_TRY(Ins(i));
  Symbol value = inputs[0];
  for (size_t k = 1; k < inputs.size(); ++k)
    value = TENCH_TRY(
        Apply(i, op, {}, {value, inputs[k]}, k + 1 == inputs.size() ? "" : fmt::format(".{}", k)));
  return value;
}

Result<Symbol> Lowering::Lower(size_t i, const Multiply&) { return Chain(i, "elemwise_mul"); }
Result<Symbol> Lowering::Lower(size_t i, const Maximum&) { return Chain(i, "_maximum"); }

Result<Symbol> Lowering::LeakyRelu(size_t i, const Relu& op) {
  const Symbol in = TENCH_TRY(In(i));
  return Apply(i, "LeakyReLU",
               {{"act_type", "leaky"}, {"slope", fmt::format("{}", op.negative_slope)}}, {in});
}

Result<Symbol> Lowering::Lower(size_t i, const Power& op) {
  const Symbol in = TENCH_TRY(In(i));
  const Symbol scaled = TENCH_TRY(WithNumber(i, "_mul_scalar", in, op.scale, ".scaled"));
  const Symbol base = TENCH_TRY(WithNumber(i, "_plus_scalar", scaled, op.shift, ".base"));
  const Symbol power = TENCH_TRY(WithNumber(i, "_power_scalar", base, op.power, ""));
  // A constant has no gradient; MXNet would compute 0 · ∞.
  return op.power * op.scale == 0 ? Constant(NameOf(i) + ".constant", power) : power;
}

Result<Symbol> Lowering::Lower(size_t i, const Slice& op) {
  const Symbol in = TENCH_TRY(In(i));
  return Apply(
      i, "slice_axis",
      {{"axis", "1"}, {"begin", std::to_string(op.begin)}, {"end", std::to_string(op.end)}}, {in});
}

Result<Symbol> Lowering::Lower(size_t i, const Reshape&) {
  const Symbol in = TENCH_TRY(In(i));
  return Apply(i, "Reshape", {{"shape", Tuple(graph_.layers[i].output.shape)}}, {in});
}

Result<Symbol> Lowering::Lower(size_t i, const Softmax&) {
  const Symbol in = TENCH_TRY(In(i));
  return Apply(i, "softmax", {{"axis", "1"}}, {in});
}

Result<Symbol> Lowering::Lower(size_t i, const Scale& op) {
  Shape sizes(graph_.layers[i].output.shape.size(), 1);
  sizes[1] = graph_.layers[i].output.shape[1];
  Symbol value = TENCH_TRY(In(i));
  for (size_t k = 0; k < (op.bias ? 2 : 1); ++k) {
    const Symbol parameter = TENCH_TRY(Weight(i, k));
    const Symbol spread = TENCH_TRY(Apply(i, "Reshape", {{"shape", Tuple(sizes)}}, {parameter},
                                          k == 0 ? ".weights" : ".biases"));
    value = TENCH_TRY(Apply(i, k == 0 ? "broadcast_mul" : "broadcast_add", {}, {value, spread},
                            k == 0 && op.bias ? ".scaled" : ""));
  }
  return value;
}

// MXNet has no such op, so it is an average of the padded squares, as in the definition.
Result<Symbol> Lowering::LrnWithin(size_t i, const Lrn& op) {
  const Symbol in = TENCH_TRY(In(i));
  const Symbol squares = TENCH_TRY(Apply(i, "square", {}, {in}, ".squares"));
  const std::string kernel = Tuple({op.size, op.size}), pad = Tuple({op.size / 2, op.size / 2});
  const Symbol mean = TENCH_TRY(Apply(i, "Pooling",
                                      {{"kernel", kernel},
                                       {"stride", "(1, 1)"},
                                       {"pad", pad},
                                       {"pool_type", "avg"},
                                       {"pooling_convention", "valid"},
                                       {"count_include_pad", "True"}},
                                      {squares}, ".mean"));
  const Symbol scaled = TENCH_TRY(WithNumber(i, "_mul_scalar", mean, op.alpha, ".scaled"));
  const Symbol base = TENCH_TRY(WithNumber(i, "_plus_scalar", scaled, op.k, ".base"));
  const Symbol falloff = TENCH_TRY(WithNumber(i, "_power_scalar", base, -op.beta, ".falloff"));
  return Apply(i, "elemwise_mul", {}, {in, falloff});
}

}  // namespace tench::mxnet
