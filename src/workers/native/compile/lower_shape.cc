// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "workers/native/compile/op_lowering.h"
#include "workers/native/kernels/pointwise.h"

namespace tench::native {

void LowerInput(Lowering& low, size_t layer) {
  const TensorType& type = low.graph.layers[layer].output;
  const auto element =
      type.dtype == DType::kF32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::s32;
  low.SetOutput(layer, low.NewTensor(PlainMd(type.shape, element), Place::kPersistent));
}

namespace {

// Adds the step to = activation(Σ from); `to` may be a view.
void AddSum(Lowering& low, size_t layer, const Tensor& to, const std::vector<Tensor>& from,
            Activation activation, const char* name) {
  std::vector<Tensor> tensors = {to};
  tensors.insert(tensors.end(), from.begin(), from.end());
  int64_t length = RowsOf(to.md)->length;
  for (const Tensor& tensor : tensors) length = std::min(length, RowsOf(tensor.md)->length);
  std::vector<Rows> rows;
  for (const Tensor& tensor : tensors) rows.push_back(CutRows(*RowsOf(tensor.md), length));
  std::vector<RowPointer> sources(from.size());
  low.AddKernel(layer, Direction::kForward, name, tensors,
                [rows, sources, activation](std::span<float* const> p, RunState&) mutable {
                  for (size_t i = 0; i < sources.size(); ++i) sources[i] = {p[i + 1], rows[i + 1]};
                  SumActivate(p[0], rows[0], sources, activation);
                });
}

// Blocked only if every input fills its channel blocks; otherwise parts would begin inside a block.
Md ConcatMd(const Lowering& low, size_t layer) {
  const Shape& shape = low.OutputShape(layer);
  const Md blocked = ActivationMd(shape);
  if (blocked.get_inner_nblks() == 0) return PlainMd(shape);
  for (size_t input : low.graph.layers[layer].inputs) {
    if (low.OutputShape(input)[1] % blocked.get_inner_blks()[0] != 0) return PlainMd(shape);
  }
  return blocked;
}

}  // namespace

void LowerConcat(Lowering& low, size_t layer) {
  const std::vector<size_t>& inputs = low.graph.layers[layer].inputs;
  const Tensor out = low.NewOutput(ConcatMd(low, layer));
  Shape offset(low.OutputShape(layer).size(), 0);
  std::vector<Shape> offsets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor view{out.buffer, out.md.submemory_desc(low.OutputShape(inputs[i]), offset)};
    const Tensor from = low.InputOf(layer, i);
    if (SameOrder(from.md, view.md) && RowsOf(from.md) && RowsOf(view.md)) {
      AddSum(low, layer, view, {from}, Activation::kNone, "copy");
    } else {
      low.AddReorder(layer, Direction::kForward, from, view);
    }
    // Later readers (the derivative of its activation) use the view, so the input's buffer is dead.
    if (!low.options.observe && low.fusion.readers[inputs[i]] == 1 &&
        !std::holds_alternative<Input>(low.graph.layers[inputs[i]].layer.op) &&
        SameOrder(from.md, view.md)) {
      low.SetOutput(inputs[i], view);
    }
    offsets.push_back(offset);
    offset[1] += low.OutputShape(inputs[i])[1];
  }
  low.SetOutput(layer, out);
  low.OnBackward([&low, layer, inputs, offsets] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor view{gradient.tensor.buffer,
                        gradient.tensor.md.submemory_desc(low.OutputShape(inputs[i]), offsets[i])};
      low.Contribute(inputs[i], {view, gradient.exclusive});
    }
  });
}

namespace {

// A residual block's sum of a batch norm and an earlier sum, with the operands of its
// recomputation.
struct Residual {
  Lowering::Norm norm;
  size_t other = 0;  // the input that is the earlier sum
};

// Nothing unless only convolutions and sums read the output: the weight gradients read it again,
// and one more pass over the activation costs less than keeping it.
std::optional<Residual> WorthRecomputing(const Lowering& low, size_t layer, const Md& md) {
  const std::vector<size_t>& inputs = low.graph.layers[layer].inputs;
  const bool blocked =
      md == ActivationMd(low.OutputShape(layer)) && md.get_inner_nblks() == 1 && !IsPadded(md);
  if (!low.training || low.options.observe || inputs.size() != 2 || !blocked ||
      !low.IsReadOnlyBy<Convolution, Add>(layer))
    return {};
  for (size_t i = 0; i < 2; ++i) {
    const Lowering::Norm* norm = low.NormOf(inputs[i]);
    const size_t before = low.fusion.absorbed[inputs[1 - i]]
                              ? low.graph.layers[inputs[1 - i]].inputs[0]
                              : inputs[1 - i];
    const bool sum = std::holds_alternative<Add>(low.graph.layers[before].layer.op);
    if (norm != nullptr && low.fusion.readers[inputs[i]] == 1 && norm->in.md == md && sum)
      return Residual{*norm, 1 - i};
  }
  return {};
}

Tensor Recompute(Lowering& low, size_t layer, const Residual& residual, const Md& md) {
  const Lowering::Norm& norm = residual.norm;
  const Tensor out = low.NewTensor(md);
  std::vector<Tensor> tensors = {out, norm.in, low.InputAs(layer, residual.other, md), norm.mean,
                                 norm.variance};
  const bool scaled = static_cast<bool>(norm.scale);
  if (scaled) tensors.insert(tensors.end(), {norm.scale, norm.shift});
  const Shape& shape = low.OutputShape(layer);
  const BlockedImages images{shape[0] * shape[1] / md.get_inner_blks()[0],
                             shape[1] / md.get_inner_blks()[0], shape[2] * shape[3],
                             md.get_inner_blks()[0]};
  low.AddKernel(
      layer, Direction::kBackwardData, "recompute norm+add", std::move(tensors),
      [images, scaled, eps = norm.eps, relu = low.fusion.activation[layer] == Activation::kRelu](
          std::span<float* const> p, RunState&) {
        const NormVectors vectors{p[3], p[4], scaled ? p[5] : nullptr, scaled ? p[6] : nullptr,
                                  eps};
        BatchNormAdd(images, p[1], vectors, p[2], relu, p[0]);
      });
  return out;
}

}  // namespace

void LowerAdd(Lowering& low, size_t layer) {
  const std::vector<size_t>& inputs = low.graph.layers[layer].inputs;
  const Md md = DenseLike(low.InputOf(layer).md);
  std::vector<Tensor> sources;
  Tensor out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    sources.push_back(low.InputAs(layer, i, md));
    if (out || !low.MayOverwrite(layer, i) || sources[i].buffer != low.InputOf(layer, i).buffer)
      continue;
    out = sources[i];
    std::swap(sources[0], sources[i]);  // SumActivate may alias its first source only
  }
  if (!out) out = low.NewOutput(md);
  AddSum(low, layer, out, sources, low.fusion.activation[layer], "add");
  low.SetOutput(layer, out);
  if (const auto residual = WorthRecomputing(low, layer, md))
    low.OnRecompute(layer,
                    [&low, layer, r = *residual, md] { return Recompute(low, layer, r, md); });
  low.OnBackward([&low, layer, inputs] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const auto takers = std::count_if(inputs.begin(), inputs.end(),
                                      [&](size_t input) { return low.WantsGradient(input); });
    for (size_t input : inputs)
      low.Contribute(input, {gradient.tensor, gradient.exclusive && takers == 1});
  });
}

// A copy, not a view: its reader may run in place. A slice inside a channel block falls back to the
// plain layout.
void LowerSlice(Lowering& low, size_t layer, const Slice& op) {
  const Shape& shape = low.OutputShape(layer);
  Md md = DenseLike(low.InputOf(layer).md);
  const int64_t block = md.get_inner_nblks() == 0 ? 1 : md.get_inner_blks()[0];
  if (op.begin % block != 0 || op.end % block != 0) md = PlainMd(md.get_dims());
  Shape offset(shape.size(), 0);
  offset[1] = op.begin;
  const Tensor in = low.InputAs(layer, 0, md);
  const Md part = md.submemory_desc(shape, offset);
  const Tensor out = low.NewOutput(DenseLike(part));
  low.AddReorder(layer, Direction::kForward, {in.buffer, part}, out);
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, md, part] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dx = low.NewTensor(md);
    const auto count = static_cast<int64_t>(md.get_size() / sizeof(float));
    low.AddKernel(
        layer, Direction::kBackwardData, "zero", {dx},
        [count](std::span<float* const> p, RunState&) { std::fill_n(p[0], count, 0.0f); });
    low.AddReorder(layer, Direction::kBackwardData, gradient.tensor, {dx.buffer, part});
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

// A view if the layout is plain, otherwise a reorder to the plain layout first.
void LowerReshape(Lowering& low, size_t layer) {
  const Tensor in = low.InputOf(layer);
  const Md in_md = PlainMd(in.md.get_dims());
  Tensor plain = in;
  if (!IsPlain(in.md)) {
    plain = low.NewOutput(in_md);
    low.AddReorder(layer, Direction::kForward, in, plain);
  }
  low.SetOutput(layer, {plain.buffer, PlainMd(low.OutputShape(layer))});
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, in_md, out_md = PlainMd(low.OutputShape(layer))] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, out_md);
    low.ContributeToInput(
        layer, 0, {{dy.buffer, in_md}, gradient.exclusive || dy.buffer != gradient.tensor.buffer});
  });
}

void LowerFlatten(Lowering& low, size_t layer) {
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const Md flat = PlainMd(low.OutputShape(layer));
  const Shape dims = in.md.get_dims();
  bool only_dense_readers = true;
  for (const TypedLayer& reader : low.graph.layers) {
    const bool reads =
        std::find(reader.inputs.begin(), reader.inputs.end(), layer) != reader.inputs.end();
    if (reads && !std::holds_alternative<FullyConnected>(reader.layer.op))
      only_dense_readers = false;
  }
  const bool one_pixel = dims.size() == 4 && dims[2] * dims[3] == 1 && !IsPadded(in.md);
  Md in_md = in.md;
  if (IsPlain(in.md) || one_pixel) {
    low.SetOutput(layer, {in.buffer, flat});
  } else if (only_dense_readers && dims.size() == 4 && !IsPadded(in.md)) {
    low.SetOutput(layer, in);
  } else {
    in_md = PlainMd(dims);
    const Tensor plain = low.NewOutput(in_md);
    low.AddReorder(layer, Direction::kForward, in, plain);
    low.SetOutput(layer, {plain.buffer, flat});
  }
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, in_md] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (gradient)
      low.ContributeToInput(layer, 0, {{gradient.tensor.buffer, in_md}, gradient.exclusive});
  });
}

}  // namespace tench::native
