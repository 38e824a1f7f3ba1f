// SPDX-License-Identifier: Apache-2.0
#include "profile/problem.h"

#include "net/op_traits.h"

namespace tench {
namespace {

constexpr int64_t kElementBytes = 4;  // f32 and i32

std::string ConvolutionText(const Convolution& op, const Shape& in, const Shape& out) {
  std::string text =
      fmt::format("mb{}g{}ic{}ih{}iw{}oc{}oh{}ow{}kh{}kw{}sh{}sw{}ph{}pw{}", in[0], op.groups,
                  in[1], in[2], in[3], out[1], out[2], out[3], op.kernel.h, op.kernel.w,
                  op.stride.h, op.stride.w, op.pad.h, op.pad.w);
  // benchdnn counts the additional elements: 0 is a dense kernel.
  if (op.dilation != Hw{1, 1})
    text += fmt::format("dh{}dw{}", op.dilation.h - 1, op.dilation.w - 1);
  return text;
}

}  // namespace

std::string ProblemText(const TypedGraph& graph, size_t layer) {
  const TypedLayer& typed = graph.layers[layer];
  if (typed.inputs.empty()) return "";
  const Shape &in = graph.InputType(layer, 0).shape, &out = typed.output.shape;
  if (const auto* conv = std::get_if<Convolution>(&typed.layer.op))
    return ConvolutionText(*conv, in, out);
  if (std::holds_alternative<FullyConnected>(typed.layer.op))
    return fmt::format("m{}n{}k{}", out[0], out[1], ElementCount(in) / in[0]);
  if (const auto* lstm = std::get_if<Lstm>(&typed.layer.op))
    return fmt::format("t{}:m{}n{}k{}+k{}", in[1], in[0], 4 * lstm->hidden, in[2], lstm->hidden);
  return "";
}

int64_t LeastBytes(const TypedGraph& graph, size_t layer, std::string_view direction) {
  const TypedLayer& typed = graph.layers[layer];
  int64_t inputs = 0, parameters = 0;
  for (size_t i = 0; i < typed.inputs.size(); ++i)
    inputs += kElementBytes * ElementCount(graph.InputType(layer, i).shape);
  for (const size_t i : typed.parameters)
    parameters += kElementBytes * ElementCount(graph.parameters[i].shape);
  const int64_t output = kElementBytes * ElementCount(typed.output.shape);
  // Both gradients have the size of what they belong to.
  const int64_t data = output + parameters + inputs, weights = output + inputs + parameters;
  if (direction == "forward") return inputs + parameters + output;
  if (direction == "backward_data") return data;
  if (direction == "backward_weights") return weights;
  if (direction == "backward") return parameters > 0 ? data + weights : data;
  return 0;
}

}  // namespace tench
