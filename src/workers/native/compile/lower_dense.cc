// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/op_lowering.h"
#include "workers/native/compile/update_rule.h"
#include "workers/native/kernels/dense_backward_weights.h"
#include "workers/native/kernels/small_batch_inner_product.h"

namespace tench::native {
namespace {

using Tag = dnnl::memory::format_tag;
using dnnl::prop_kind;

// A flattened image keeps its blocked layout; the weights' columns are permuted to that order
// instead, so that no reorder is needed.
Md WeightsLike(const Md& in, int64_t out_features) {
  Shape dims = in.get_dims();
  dims[0] = out_features;
  if (dims.size() == 2) return PlainMd(dims);
  for (Tag tag : {Tag::abcd, Tag::aBcd8b, Tag::aBcd16b, Tag::acdb}) {
    if (SameOrder(Md(in.get_dims(), dnnl::memory::data_type::f32, tag), in))
      return Md(dims, dnnl::memory::data_type::f32, tag);
  }
  Check(false, "a flattened image in an unknown layout");
  return {};
}

struct Dense {
  DenseShape shape;
  Tensor in, weights, bias;
};

int64_t FlopsOf(const DenseShape& shape) { return 2 * shape.batch * shape.in * shape.out; }

// Whether the small-batch kernels apply; they fuse no activation but ReLU.
bool IsDirect(const DenseShape& shape, Activation activation) {
  return FavoursSmallBatchInnerProduct(shape) &&
         (activation == Activation::kNone || activation == Activation::kRelu);
}

void AddDirectForward(Lowering& low, size_t layer, const Dense& dense, const Tensor& out) {
  const DenseShape shape = dense.shape;
  const bool relu = low.fusion.activation[layer] == Activation::kRelu;
  std::vector<Tensor> tensors = {dense.in, dense.weights, out,
                                 low.NewTensor(PlainMd({SmallBatchInnerProductScratch(shape)}))};
  if (dense.bias) tensors.push_back(dense.bias);
  low.AddKernel(
      layer, Direction::kForward, "small batch", std::move(tensors),
      [shape, relu](std::span<float* const> p, RunState&) {
        SmallBatchInnerProductForward(shape, p[0], p[1], p.size() > 4 ? p[4] : nullptr, relu, p[2],
                                      p[3]);
      },
      FlopsOf(shape));
}

void AddDirectBackwardData(Lowering& low, size_t layer, const Dense& dense, const Tensor& dy) {
  const DenseShape shape = dense.shape;
  const Tensor dx = low.NewTensor(dense.in.md);
  low.AddKernel(
      layer, Direction::kBackwardData, "small batch",
      {dy, dense.weights, dx, low.NewTensor(PlainMd({SmallBatchInnerProductScratch(shape)}))},
      [shape](std::span<float* const> p, RunState&) {
        SmallBatchInnerProductBackwardData(shape, p[0], p[1], p[2], p[3]);
      },
      FlopsOf(shape));
  low.ContributeToInput(layer, 0, {dx, true});
}

void AddBackwardData(Lowering& low, size_t layer, const Dense& dense,
                     const dnnl::inner_product_forward::primitive_desc& hint, const Tensor& dy) {
  const dnnl::inner_product_backward_data::primitive_desc pd(
      low.engine, dense.in.md, dense.weights.md, dy.md, hint, PlainAttributes());
  const Tensor dx = low.NewTensor(dense.in.md);
  low.AddPrimitive(
      layer, Direction::kBackwardData, pd, dnnl::inner_product_backward_data(pd),
      {{DNNL_ARG_DIFF_SRC, dx}, {DNNL_ARG_WEIGHTS, dense.weights}, {DNNL_ARG_DIFF_DST, dy}},
      FlopsOf(dense.shape));
  low.ContributeToInput(layer, 0, {dx, true});
}

// SGD is fused into the weight gradient where the gradient need not be stored.
void AddBackwardWeights(Lowering& low, size_t layer, const Dense& dense, const Tensor& dy) {
  const DenseShape shape = dense.shape;
  const int64_t flops = FlopsOf(shape);
  if (dense.bias) {
    const Tensor db = low.NewGradient(layer, 1, dense.bias.md);
    low.AddKernel(
        layer, Direction::kBackwardWeights, "bias gradient", {dy, db},
        [shape](std::span<float* const> p, RunState&) { DenseBackwardBias(shape, p[0], p[1]); });
    low.Update(layer, 1, db);
  }
  if (low.MayFuseUpdate()) {
    const Tensor scratch = low.NewTensor(PlainMd({DenseBackwardWeightsSgdScratch(shape)}));
    const UpdateRule rule =
        RuleOf(low.options.solver, low.graph.parameters[low.ParameterIndex(layer, 0)]);
    low.AddKernel(
        layer, Direction::kBackwardWeights, "gradient+sgd",
        {dense.in, dy, scratch, dense.weights, low.PlaceOf(layer, 0).momentum},
        [shape, rule](std::span<float* const> p, RunState& state) {
          DenseBackwardWeightsSgd(shape, p[0], p[1], p[2], p[3], p[4], rule, state.lr);
        },
        flops);
    return;
  }
  const Tensor dw = low.NewGradient(layer, 0, dense.weights.md),
               scratch = low.NewTensor(PlainMd({DenseBackwardWeightsScratch(shape)}));
  low.AddKernel(
      layer, Direction::kBackwardWeights, "gradient", {dense.in, dy, scratch, dw},
      [shape](std::span<float* const> p, RunState&) {
        DenseBackwardWeights(shape, p[0], p[1], p[2], p[3]);
      },
      flops);
  low.Update(layer, 0, dw);
}

}  // namespace

void LowerFullyConnected(Lowering& low, size_t layer, const FullyConnected& op) {
  Dense dense;
  const Md& md = low.InputOf(layer).md;
  dense.in = low.InputAs(layer, 0, IsPadded(md) ? PlainMd(md.get_dims()) : DenseLike(md));
  dense.shape = {low.graph.batch, low.InputShape(layer)[1], op.out_features};
  const Md weights = WeightsLike(dense.in.md, op.out_features), bias = PlainMd({op.out_features});
  dense.weights = low.DeclareParameter(layer, 0, PlainMd(weights.get_dims()), weights);
  if (op.bias) dense.bias = low.DeclareParameter(layer, 1, bias, bias);
  const Md out_md = PlainMd(low.OutputShape(layer));
  const Tensor out = low.NewOutput(out_md);
  const Activation activation = low.fusion.activation[layer];
  std::function<void(const Tensor&)> add_backward_data;
  if (IsDirect(dense.shape, activation)) {
    AddDirectForward(low, layer, dense, out);
    add_backward_data = [&low, layer, dense](const Tensor& dy) {
      AddDirectBackwardData(low, layer, dense, dy);
    };
  } else {
    const dnnl::inner_product_forward::primitive_desc pd(
        low.engine, low.training ? prop_kind::forward_training : prop_kind::forward_inference,
        dense.in.md, weights, op.bias ? bias : Md(), out_md, WithActivation(activation));
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, dense.in}, {DNNL_ARG_WEIGHTS, dense.weights}, {DNNL_ARG_DST, out}};
    if (op.bias) arguments.push_back({DNNL_ARG_BIAS, dense.bias});
    low.AddPrimitive(layer, Direction::kForward, pd, dnnl::inner_product_forward(pd),
                     std::move(arguments), FlopsOf(dense.shape));
    add_backward_data = [&low, layer, dense, pd](const Tensor& dy) {
      AddBackwardData(low, layer, dense, pd, dy);
    };
  }
  low.SetOutput(layer, out);
  low.OnBackward([&low, layer, dense, add_backward_data] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    if (low.WantsInputGradient(layer)) add_backward_data(gradient.tensor);
    AddBackwardWeights(low, layer, dense, gradient.tensor);
  });
}

}  // namespace tench::native
