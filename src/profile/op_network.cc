// SPDX-License-Identifier: Apache-2.0
#include "profile/op_network.h"

#include <cctype>
#include <map>
#include <set>

#include "base/text.h"
#include "net/builder.h"
#include "net/op_shape.h"

namespace tench {
namespace {

constexpr int64_t kLargest = 1 << 20;

using Numbers = std::map<std::string, int64_t>;

// "mb16ic3" -> {mb: 16, ic: 3}. A leading name of benchdnn ("n\"conv1\"") is not accepted.
Result<Numbers> ParseNumbers(std::string_view problem, const std::set<std::string>& known) {
  Numbers numbers;
  size_t at = 0;
  while (at < problem.size()) {
    const size_t begin = at;
    while (at < problem.size() && std::isalpha(static_cast<unsigned char>(problem[at])) != 0) ++at;
    const std::string name(problem.substr(begin, at - begin));
    const size_t digits = at;
    while (at < problem.size() && std::isdigit(static_cast<unsigned char>(problem[at])) != 0) ++at;
    const auto value = ParseInteger(problem.substr(digits, at - digits));
    if (name.empty() || !value || *value > kLargest)
      return Failed("'{}' is no problem: after '{}' comes no name with a number",
                    Printable(problem, 80), Printable(problem.substr(0, begin), 80));
    if (!known.contains(name))
      return Failed("'{}': unknown size '{}' (known: {})", Printable(problem, 80), name,
                    Join(std::vector<std::string>(known.begin(), known.end()), ", "));
    if (!numbers.emplace(name, *value).second)
      return Failed("'{}': '{}' is given twice", Printable(problem, 80), name);
  }
  return numbers;
}

class Sizes {
 public:
  Sizes(std::string problem, Numbers numbers)
      : problem_(std::move(problem)), numbers_(std::move(numbers)) {}

  Result<int64_t> Needed(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end() || found->second < 1)
      return Failed("'{}': '{}' is missing", Printable(problem_, 80), name);
    return found->second;
  }
  int64_t Or(const std::string& name, int64_t fallback) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? fallback : found->second;
  }
  const std::string& problem() const { return problem_; }

 private:
  std::string problem_;
  Numbers numbers_;
};

Shape WithoutBatch(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

// `input` has the batch as its first dimension.
Result<OpNetwork> Around(const Op& op, const Shape& input, const std::string& name) {
  TENCH_TRY(CheckShape(input, "its input"));
  TypedLayer producer;
  producer.output = {DType::kF32, input};
  const TypedLayer* const producers[] = {&producer};
  const Shape output = TENCH_TRY(OutputType(op, producers, input[0])).shape;
  const Fill values{FillKind::kUniform, -1, 1};
  const Fill zero{FillKind::kConstant, 0, 0}, one{FillKind::kConstant, 1, 0};
  GraphBuilder builder(name);
  builder.Append("data", Input{InputRole::kData, WithoutBatch(input), values}, {});
  builder.Append("input", Scale{false}, {"data"}, {one, 1, 1});
  builder.Append(kOpLayer, op, {"input"}, {{FillKind::kUniform, -0.1, 0.1}, 1, 1}, {zero, 1, 1});
  builder.Append("target", Input{InputRole::kData, WithoutBatch(output), values}, {});
  builder.Append("loss", MeanSquaredError{}, {kOpLayer, "target"});
  OpNetwork network{builder.Take(), input[0]};
  TENCH_TRY(Infer(network.graph, network.batch));
  return network;
}

Result<OpNetwork> ConvolutionNetwork(std::string_view problem) {
  static const std::set<std::string> kNames = {"mb", "g",  "ic", "ih", "iw", "oc", "oh", "ow",
                                               "kh", "kw", "sh", "sw", "dh", "dw", "ph", "pw"};
  const Sizes sizes(std::string(problem), TENCH_TRY(ParseNumbers(problem, kNames)));
  Convolution op;
  op.bias = true;
  op.groups = sizes.Or("g", 1);
  op.out_channels = TENCH_TRY(sizes.Needed("oc"));
  op.kernel.h = TENCH_TRY(sizes.Needed("kh"));
  op.kernel.w = sizes.Or("kw", op.kernel.h);
  op.stride.h = sizes.Or("sh", 1);
  op.stride.w = sizes.Or("sw", op.stride.h);
  op.pad.h = sizes.Or("ph", 0);
  op.pad.w = sizes.Or("pw", op.pad.h);
  // benchdnn counts the additional elements.
  op.dilation.h = sizes.Or("dh", 0) + 1;
  op.dilation.w = sizes.Or("dw", op.dilation.h - 1) + 1;
  const int64_t channels = TENCH_TRY(sizes.Needed("ic"));
  const int64_t height = TENCH_TRY(sizes.Needed("ih"));
  const int64_t width = sizes.Or("iw", height);
  const Shape input = {sizes.Or("mb", 1), channels, height, width};
  OpNetwork network = TENCH_TRY(Around(op, input, sizes.problem()).In(Printable(problem, 80)));
  const TypedGraph typed = TENCH_TRY(Infer(network.graph, network.batch));
  const Shape& out = typed.layers[2].output.shape;
  if (sizes.Or("oh", out[2]) != out[2] || sizes.Or("ow", out[3]) != out[3])
    return Failed("'{}': the output is oh{}ow{}", Printable(problem, 80), out[2], out[3]);
  return network;
}

Result<OpNetwork> ProductNetwork(std::string_view problem) {
  const Sizes sizes(std::string(problem), TENCH_TRY(ParseNumbers(problem, {"m", "n", "k"})));
  const int64_t batch = TENCH_TRY(sizes.Needed("m"));
  const FullyConnected op{TENCH_TRY(sizes.Needed("n")), true};
  const Shape input = {batch, TENCH_TRY(sizes.Needed("k"))};
  return Around(op, input, sizes.problem()).In(Printable(problem, 80));
}

}  // namespace

Result<OpNetwork> ParseOpNetwork(std::string_view op, std::string_view problem) {
  if (op == "conv") return ConvolutionNetwork(problem);
  if (op == "fc") return ProductNetwork(problem);
  return Failed("unknown op '{}'; it is conv or fc", Printable(op, 40));
}

}  // namespace tench
