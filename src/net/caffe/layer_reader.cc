// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/layer_reader.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.h"
#include "net/caffe/filler.h"
#include "net/caffe/input_reader.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

using Inputs = std::vector<Shape>;

Result<int64_t> Axis(int64_t axis, const Shape& shape) {
  const int64_t rank = static_cast<int64_t>(shape.size()), positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive > rank)
    return Failed("axis {} does not exist in {}", axis, ToString(shape));
  return positive;
}

Status NeedChannels(int64_t axis, const Shape& shape, std::string_view what) {
  if (TENCH_TRY(Axis(axis, shape)) == 1) return Ok();
  return Unsupported("{} works along axis {}; only axis 1 is supported", what, axis);
}

ParameterRule RuleOf(const caffe::LayerParameter& layer, int index, const Fill& fill) {
  ParameterRule rule{fill, 1, 1};
  if (index >= layer.param_size()) return rule;
  rule.lr_mult = DecimalOf(layer.param(index).lr_mult());
  rule.decay_mult = DecimalOf(layer.param(index).decay_mult());
  return rule;
}

// `bias` is null for a layer without a bias.
Status ReadRules(const caffe::LayerParameter& layer, const caffe::FillerParameter& weight,
                 const Shape& shape, const caffe::FillerParameter* bias, ReadOp& to) {
  to.weight = RuleOf(layer, 0, TENCH_TRY(ReadFiller(weight, shape).In("weight_filler")));
  if (bias != nullptr)
    to.bias = RuleOf(layer, 1, TENCH_TRY(ReadFiller(*bias, {}).In("bias_filler")));
  return Ok();
}

// Caffe has three spellings of a size: one value for both directions, a list of two, or the fields
// _h and _w. `fallback` < 0 = the size is required.
template <class List>
Result<Hw> ReadSizes(const char* what, const List& list, bool has_h, int64_t h, bool has_w,
                     int64_t w, int64_t fallback) {
  if (has_h || has_w) {
    if (list.size() > 0) return Failed("{0} and {0}_h, {0}_w exclude each other", what);
    if ((!has_h || !has_w) && fallback < 0) return Failed("{0}_h and {0}_w belong together", what);
    return Hw{has_h ? h : fallback, has_w ? w : fallback};
  }
  if (list.size() > 2)
    return Unsupported("{} has {} sizes; only images of two dimensions are supported", what,
                       list.size());
  if (list.size() == 0 && fallback < 0) return Failed("{} is missing", what);
  if (list.size() == 0) return Hw{fallback, fallback};
  return Hw{list[0], list[list.size() - 1]};
}

Result<ReadOp> ReadConvolution(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::ConvolutionParameter& from = layer.convolution_param();
  if (inputs[0].size() != 4)
    return Failed("its input is {}; it must be (N, C, H, W)", ToString(inputs[0]));
  TENCH_TRY(NeedChannels(from.axis(), inputs[0], "it"));
  Convolution conv;
  if (from.num_output() == 0) return Failed("num_output is missing");
  conv.out_channels = from.num_output();
  conv.kernel = TENCH_TRY(ReadSizes("kernel", from.kernel_size(), from.has_kernel_h(),
                                    from.kernel_h(), from.has_kernel_w(), from.kernel_w(), -1));
  conv.stride = TENCH_TRY(ReadSizes("stride", from.stride(), from.has_stride_h(), from.stride_h(),
                                    from.has_stride_w(), from.stride_w(), 1));
  conv.pad = TENCH_TRY(ReadSizes("pad", from.pad(), from.has_pad_h(), from.pad_h(),
                                 from.has_pad_w(), from.pad_w(), 0));
  conv.dilation = TENCH_TRY(ReadSizes("dilation", from.dilation(), false, 0, false, 0, 1));
  conv.groups = from.group();
  conv.bias = from.bias_term();
  if (conv.groups < 1) return Failed("group is 0");
  ReadOp read{conv};
  const Shape weights{conv.out_channels, inputs[0][1] / conv.groups, conv.kernel.h, conv.kernel.w};
  TENCH_TRY(ReadRules(layer, from.weight_filler(), weights,
                      conv.bias ? &from.bias_filler() : nullptr, read));
  return read;
}

Result<ReadOp> ReadInnerProduct(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::InnerProductParameter& from = layer.inner_product_param();
  TENCH_TRY(NeedChannels(from.axis(), inputs[0], "it"));
  if (from.transpose()) return Unsupported("transposed weights are not supported");
  if (from.num_output() == 0) return Failed("num_output is missing");
  FullyConnected fc{from.num_output(), from.bias_term()};
  ReadOp read{fc};
  read.flatten = inputs[0].size() > 2;
  const Shape weights{fc.out_features, ElementCount(inputs[0]) / inputs[0][0]};
  TENCH_TRY(ReadRules(layer, from.weight_filler(), weights, fc.bias ? &from.bias_filler() : nullptr,
                      read));
  return read;
}

Result<ReadOp> ReadPooling(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::PoolingParameter& from = layer.pooling_param();
  if (from.pool() == caffe::PoolingParameter::STOCHASTIC)
    return Unsupported("stochastic pooling is not supported");
  if (inputs[0].size() != 4)
    return Failed("its input is {}; it must be (N, C, H, W)", ToString(inputs[0]));
  Pooling pool;
  pool.mode = from.pool() == caffe::PoolingParameter::MAX ? PoolMode::kMax : PoolMode::kAvg;
  if (from.global_pooling()) {
    if (from.has_kernel_size() || from.has_kernel_h() || from.has_kernel_w())
      return Failed("a global pool has no kernel size");
    pool.global = true;
    return ReadOp{pool};
  }
  const auto one = [](bool has, int64_t value) {
    return has ? std::vector<int64_t>{value} : std::vector<int64_t>{};
  };
  pool.kernel = TENCH_TRY(ReadSizes("kernel", one(from.has_kernel_size(), from.kernel_size()),
                                    from.has_kernel_h(), from.kernel_h(), from.has_kernel_w(),
                                    from.kernel_w(), -1));
  pool.stride =
      TENCH_TRY(ReadSizes("stride", one(from.has_stride(), from.stride()), from.has_stride_h(),
                          from.stride_h(), from.has_stride_w(), from.stride_w(), 1));
  pool.pad = TENCH_TRY(ReadSizes("pad", one(from.has_pad(), from.pad()), from.has_pad_h(),
                                 from.pad_h(), from.has_pad_w(), from.pad_w(), 0));
  pool.ceil_mode = from.round_mode() == caffe::PoolingParameter::CEIL;
  // Caffe drops a window that starts beyond the input only if there is padding. Without padding
  // such a window is empty.
  const bool gaps = pool.stride.h > pool.kernel.h || pool.stride.w > pool.kernel.w;
  if (pool.ceil_mode && gaps && pool.pad == Hw{0, 0})
    return Unsupported("a stride above the kernel's size may leave Caffe with empty windows");
  return ReadOp{pool};
}

Result<ReadOp> ReadLrn(const caffe::LayerParameter& layer, const Inputs&) {
  const caffe::LRNParameter& from = layer.lrn_param();
  Lrn lrn{from.local_size(), DecimalOf(from.alpha()), DecimalOf(from.beta()), DecimalOf(from.k())};
  if (from.norm_region() == caffe::LRNParameter::WITHIN_CHANNEL)
    lrn.region = LrnRegion::kWithinChannel, lrn.k = 1;
  return ReadOp{lrn};
}

Result<ReadOp> ReadBatchNorm(const caffe::LayerParameter& layer, const Inputs&) {
  const caffe::BatchNormParameter& from = layer.batch_norm_param();
  if (from.use_global_stats())
    return Unsupported("use_global_stats while training (a frozen batch norm) is not supported");
  // Rounded to float, the precision of the file, so that 1 - 0.9 gives 0.1.
  const float momentum = static_cast<float>(1 - DecimalOf(from.moving_average_fraction()));
  return ReadOp{BatchNorm{DecimalOf(from.eps()), DecimalOf(momentum), false}};
}

Result<ReadOp> ReadScale(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::ScaleParameter& from = layer.scale_param();
  if (inputs.size() > 1) return Unsupported("a Scale of two bottoms is not supported");
  TENCH_TRY(NeedChannels(from.axis(), inputs[0], "it"));
  if (from.num_axes() != 1)
    return Unsupported("a Scale over {} axes is not supported", from.num_axes());
  ReadOp read{Scale{from.bias_term()}};
  caffe::FillerParameter one;
  one.set_value(1);
  TENCH_TRY(ReadRules(layer, from.has_filler() ? from.filler() : one, {},
                      from.bias_term() ? &from.bias_filler() : nullptr, read));
  return read;
}

Result<ReadOp> ReadEltwise(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::EltwiseParameter& from = layer.eltwise_param();
  if (from.operation() != caffe::EltwiseParameter::SUM && from.coeff_size() > 0)
    return Failed("only a sum has coefficients");
  if (from.operation() == caffe::EltwiseParameter::PROD) return ReadOp{Multiply{}};
  if (from.operation() == caffe::EltwiseParameter::MAX) return ReadOp{Maximum{}};
  if (from.coeff_size() != 0 && from.coeff_size() != static_cast<int>(inputs.size()))
    return Failed("{} coefficients for {} bottoms", from.coeff_size(), inputs.size());
  Add add;
  for (const float each : from.coeff()) add.coefficients.push_back(DecimalOf(each));
  // Coefficients of one are the plain sum, which more workers support.
  if (std::all_of(add.coefficients.begin(), add.coefficients.end(),
                  [](double each) { return each == 1; }))
    add.coefficients.clear();
  return ReadOp{add};
}

Result<ReadOp> ReadConcat(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::ConcatParameter& from = layer.concat_param();
  TENCH_TRY(NeedChannels(from.has_concat_dim() ? from.concat_dim() : from.axis(), inputs[0], "it"));
  return ReadOp{Concat{}};
}

Result<ReadOp> ReadFlatten(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::FlattenParameter& from = layer.flatten_param();
  const int64_t first = TENCH_TRY(Axis(from.axis(), inputs[0])),
                last = TENCH_TRY(Axis(from.end_axis(), inputs[0]));
  if (first == 1 && last + 1 == static_cast<int64_t>(inputs[0].size())) return ReadOp{Flatten{}};
  return Unsupported("only a flatten of all axes but the first is supported, not of {} to {}",
                     from.axis(), from.end_axis());
}

Result<ReadOp> ReadReshape(const caffe::LayerParameter& layer, const Inputs& inputs) {
  const caffe::ReshapeParameter& from = layer.reshape_param();
  const Shape& in = inputs[0];
  const int64_t rank = static_cast<int64_t>(in.size());
  const int64_t first = from.axis() < 0 ? from.axis() + rank + 1 : from.axis();
  const int64_t end = from.num_axes() < 0 ? rank : first + from.num_axes();
  if (first < 0 || first > rank || end < first || end > rank)
    return Failed("axis {} and num_axes {} do not fit {}", from.axis(), from.num_axes(),
                  ToString(in));
  Shape out(in.begin(), in.begin() + first);
  int64_t open = -1;
  for (const int64_t size : from.shape().dim()) {
    const auto at = static_cast<int64_t>(out.size());
    if (size == 0 && at >= end)
      return Failed("a size of 0 copies the input's, but the input has no axis {}", at);
    if (size < -1 || size > kMaxSize) return Failed("a size of its shape is {}", size);
    if (size == -1 && open >= 0) return Failed("its shape has more than one -1");
    if (size == -1) open = at;
    if (at > 8) return Failed("its shape has too many sizes");
    out.push_back(size == 0 ? in[static_cast<size_t>(at)] : size == -1 ? 1 : size);
  }
  out.insert(out.end(), in.begin() + end, in.end());
  const int64_t elements = ElementCount(out);
  if (open >= 0 && elements > 0 && ElementCount(in) % elements == 0)
    out[static_cast<size_t>(open)] = ElementCount(in) / elements;
  if (out.empty() || out[0] != in[0])
    return Unsupported("it reshapes {1} to {0}; only the sizes after the batch may change",
                       ToString(out), ToString(in));
  return ReadOp{Reshape{{out.begin() + 1, out.end()}}};
}

Result<ReadOp> ReadSoftmax(const caffe::LayerParameter& layer, const Inputs& inputs) {
  TENCH_TRY(NeedChannels(layer.softmax_param().axis(), inputs[0], "it"));
  return ReadOp{Softmax{}};
}

using ReadFunction = std::function<Result<ReadOp>(const caffe::LayerParameter&, const Inputs&)>;
struct Type {
  ReadFunction read;
  bool many = false;  // takes two or more bottoms
};

const std::map<std::string, Type>& Types() {
  using L = const caffe::LayerParameter&;
  using I = const Inputs&;
  static const std::map<std::string, Type> types = {
      {"BatchNorm", {ReadBatchNorm}},
      {"Concat", {ReadConcat, true}},
      {"Convolution", {ReadConvolution}},
      {"Dropout", {[](L layer, I) -> Result<ReadOp> {
         return ReadOp{Dropout{DecimalOf(layer.dropout_param().dropout_ratio())}};
       }}},
      {"Eltwise", {ReadEltwise, true}},
      {"Flatten", {ReadFlatten}},
      {"InnerProduct", {ReadInnerProduct}},
      {"LRN", {ReadLrn}},
      {"Pooling", {ReadPooling}},
      {"Power", {[](L layer, I) -> Result<ReadOp> {
         const caffe::PowerParameter& from = layer.power_param();
         return ReadOp{
             Power{DecimalOf(from.power()), DecimalOf(from.scale()), DecimalOf(from.shift())}};
       }}},
      {"ReLU", {[](L layer, I) -> Result<ReadOp> {
         return ReadOp{Relu{DecimalOf(layer.relu_param().negative_slope())}};
       }}},
      {"Reshape", {ReadReshape}},
      {"Scale", {ReadScale, true}},
      {"Sigmoid", {[](L, I) -> Result<ReadOp> { return ReadOp{Sigmoid{}}; }}},
      {"Softmax", {ReadSoftmax}},
      {"TanH", {[](L, I) -> Result<ReadOp> { return ReadOp{Tanh{}}; }}},
  };
  return types;
}

}  // namespace

Result<std::optional<ReadOp>> ReadLayer(const caffe::LayerParameter& layer,
                                        const std::vector<Shape>& inputs) {
  const auto type = Types().find(layer.type());
  if (type == Types().end()) return std::optional<ReadOp>();
  if (inputs.empty() || (inputs.size() > 1 && !type->second.many))
    return Failed("it has {} bottoms; it must have one", inputs.size());
  for (const Shape& shape : inputs) {
    if (shape.size() < 2) return Failed("a bottom is {}, which it cannot read", ToString(shape));
  }
  return std::optional(TENCH_TRY(type->second.read(layer, inputs)));
}

Result<std::vector<Slice>> ReadSlices(const caffe::LayerParameter& layer, const Shape& input) {
  const caffe::SliceParameter& from = layer.slice_param();
  if (input.size() < 2) return Failed("a bottom is {}, which it cannot read", ToString(input));
  TENCH_TRY(NeedChannels(from.has_slice_dim() ? from.slice_dim() : from.axis(), input, "it"));
  const int64_t tops = layer.top_size(), size = input[1];
  if (tops == 0) return Failed("it has no top");
  if (from.slice_point_size() == 0 && size % tops != 0)
    return Failed("{} channels are not divisible into {} equal slices", size, tops);
  if (from.slice_point_size() != 0 && from.slice_point_size() != tops - 1)
    return Failed("{} slice_point for {} tops", from.slice_point_size(), tops);
  std::vector<Slice> pieces;
  int64_t begin = 0;
  for (int i = 0; i < tops; ++i) {
    const int64_t end = i + 1 == tops                 ? size
                        : from.slice_point_size() > 0 ? int64_t{from.slice_point(i)}
                                                      : begin + size / tops;
    if (end <= begin) return Failed("its slice_point must increase");
    pieces.push_back({begin, end});
    begin = end;
  }
  return pieces;
}

bool IsKnownType(const std::string& type) {
  return Types().contains(type) || IsDataLayer(type) || IsLossType(type) || type == "Slice";
}

std::string KnownTypes() {
  std::vector<std::string> names;
  for (const auto& [name, type] : Types()) names.push_back(name);
  return Join(names, ", ");
}

}  // namespace tench
