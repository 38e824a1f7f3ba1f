// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/inter_op.h"

#include <algorithm>

#include "base/text.h"
#include "worker/option_trial.h"

namespace tench::tensorflow {
namespace {

constexpr int64_t kMaxInterOp = 1024;
constexpr TrialLimits kLimits{
    .warmup_steps = 2, .min_steps = 2, .max_steps = 10, .candidate_ns = 400'000'000};

// A trial may use arbitrary values, as long as labels and lengths are in range.
Status FillForTrial(const TypedGraph& graph, const Program& program, const GraphWriter& writer,
                    Session& session) {
  const CApi& api = writer.api();
  RunRequest request;
  std::vector<TensorHandle> tensors;
  const auto fill = [&](const Variable& variable, bool integers, double value) -> Status {
    TensorHandle tensor = AllocateTensor(api, integers ? TF_INT32 : TF_FLOAT, variable.dims);
    if (tensor == nullptr)
      return Error{"no memory for a variable of " + ToString(variable.dims),
                   ErrorKind::kOutOfMemory};
    const size_t count = api.TensorByteSize(tensor.get()) / sizeof(float);
    if (integers) {
      std::fill_n(static_cast<int32_t*>(api.TensorData(tensor.get())), count,
                  static_cast<int32_t>(value));
    } else {
      std::fill_n(static_cast<float*>(api.TensorData(tensor.get())), count,
                  static_cast<float>(value));
    }
    request.feeds.push_back(variable.value);
    request.fed.push_back(tensor.get());
    request.targets.push_back(variable.assign);
    tensors.push_back(std::move(tensor));
    return Ok();
  };
  for (size_t p = 0; p < program.parameters.size(); ++p) {
    TENCH_TRY(fill(program.parameters[p], false, 0.01));
    if (program.momenta[p]) TENCH_TRY(fill(*program.momenta[p], false, 0));
  }
  for (const RateVariable& rate : program.rates) TENCH_TRY(fill(rate.variable, false, 0));
  size_t next = 0;
  for (const TypedLayer& layer : graph.layers) {
    const Input* input = std::get_if<Input>(&layer.layer.op);
    if (input == nullptr) continue;
    const bool integers = layer.output.dtype == DType::kI32;
    TENCH_TRY(fill(program.inputs[next++], integers,
                   integers ? (input->role == InputRole::kLengths ? 1 : 0) : 0.5));
  }
  TENCH_TRY(session.Run(request));
  return Ok();
}

}  // namespace

Result<int64_t> ParseInterOp(const std::string& text, int64_t threads) {
  if (text == "auto") return threads;
  if (text == "caller") return kInCaller;
  const auto number = ParseInteger(text);
  if (number.ok() && *number >= 1 && *number <= kMaxInterOp) return *number;
  return Unsupported("option inter_op cannot be '{}': it is auto, caller or a number from 1 to {}",
                     Printable(text), kMaxInterOp);
}

std::string InterOpName(int64_t inter_op) {
  return inter_op == kInCaller ? "caller" : std::to_string(inter_op);
}

Result<int64_t> FastestInterOp(const TypedGraph& graph, const Program& program,
                               const GraphWriter& writer, SessionSettings settings,
                               const RunRequest& step) {
  std::vector<int64_t> candidates{kInCaller, 1};
  if (settings.intra_op > 1) candidates.push_back(settings.intra_op);
  int64_t best = candidates[0];
  SystemClock clock;
  OptionTrial trial(kLimits, clock);
  for (const int64_t candidate : candidates) {
    settings.inter_op = candidate;
    Session session = TENCH_TRY(Session::Open(writer, settings));
    TENCH_TRY(FillForTrial(graph, program, writer, session));
    const OptionTrial::Step run = [&]() -> Status {
      TENCH_TRY(session.Run(step));
      return Ok();
    };
    if (TENCH_TRY(trial.Try(InterOpName(candidate), run))) best = candidate;
  }
  return best;
}

}  // namespace tench::tensorflow
