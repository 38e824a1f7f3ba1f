// SPDX-License-Identifier: Apache-2.0
// Sequences. MXNet's RNN op is time-major. Values stay time-major from the embedding to the mean,
// so that a timed network transposes only the tokens.
#include <algorithm>

#include "workers/mxnet/lowering.h"

namespace tench::mxnet {

Status Lowering::LowerEmbedding(size_t i, const Embedding& op) {
  const Symbol weight = TENCH_TRY(Weight(i, 0));
  const bool read_by_lstm =
      std::any_of(graph_.layers.begin(), graph_.layers.end(), [&](const TypedLayer& layer) {
        return std::holds_alternative<Lstm>(layer.layer.op) &&
               std::ranges::count(layer.inputs, i) > 0;
      });
  const Symbol tokens = TENCH_TRY(Ordered(
      graph_.layers[i].inputs[0], read_by_lstm ? TimeOrder::kTimeMajor : TimeOrder::kBatchMajor));
  const Symbol made = TENCH_TRY(Apply(
      i, "Embedding",
      {{"input_dim", std::to_string(op.vocabulary)}, {"output_dim", std::to_string(op.dimension)}},
      {tokens, weight}));
  (read_by_lstm ? values_[i].time_major : values_[i].batch_major) = made;
  return Ok();
}

// The op's parameters are one flat vector: weight_input, weight_hidden, bias, and a second bias
// that tench's LSTM lacks. It stays zero, because no update changes it. The order of the gates is
// the same.
Status Lowering::LowerLstm(size_t i, const Lstm& op) {
  const Symbol in = TENCH_TRY(Ordered(graph_.layers[i].inputs[0], TimeOrder::kTimeMajor));
  const std::string flat = NameOf(i) + ".parameters";
  int64_t size = 0;
  for (const size_t index : graph_.layers[i].parameters) {
    lowered_.parameters[index] = {flat, size, true, 1};
    size += ElementCount(graph_.parameters[index].shape);
  }
  size += 4 * op.hidden;
  const Symbol parameters = TENCH_TRY(Variable(flat, {size}, true));
  const Shape state = {1, graph_.batch, op.hidden};
  const Symbol hidden = TENCH_TRY(Variable(NameOf(i) + ".initial_hidden", state, false));
  const Symbol cell = TENCH_TRY(Variable(NameOf(i) + ".initial_cell", state, false));
  values_[i].time_major = TENCH_TRY(Apply(
      i, "RNN", {{"mode", "lstm"}, {"state_size", std::to_string(op.hidden)}, {"num_layers", "1"}},
      {in, parameters, hidden, cell}));
  return Ok();
}

Result<Symbol> Lowering::Lower(size_t i, const MeanOverTime&) {
  const size_t sequence = graph_.layers[i].inputs[0];
  const bool time_major = values_[sequence].time_major != nullptr;
  const std::string axis = time_major ? "0" : "1";
  const Symbol in =
      TENCH_TRY(Ordered(sequence, time_major ? TimeOrder::kTimeMajor : TimeOrder::kBatchMajor));
  const Symbol lengths = TENCH_TRY(In(i, 1));
  const Symbol masked = TENCH_TRY(
      Apply(i, "SequenceMask", {{"use_sequence_length", "True"}, {"value", "0"}, {"axis", axis}},
            {in, lengths}, ".mask"));
  const Symbol sum = TENCH_TRY(Apply(i, "sum", {{"axis", axis}}, {masked}, ".sum"));
  const Symbol column = TENCH_TRY(Apply(i, "expand_dims", {{"axis", "1"}}, {lengths}, ".lengths"));
  return Apply(i, "broadcast_div", {}, {sum, column});
}

}  // namespace tench::mxnet
