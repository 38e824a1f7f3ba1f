// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/prototxt_writer.h"

#include <google/protobuf/text_format.h>

#include <cmath>
#include <unordered_set>

#include "net/caffe/blob_place.h"
#include "net/caffe/layer_writer.h"
#include "net/op_traits.h"

namespace tench {
namespace {

// Whether Caffe's backward pass of the op reads the op's own output, so that no in-place layer may
// overwrite it.
bool ReadsOutputInCaffe(const Op& op) {
  return std::visit(
      Overload{
          [](const AnyOf<Convolution, FullyConnected, Pooling, BatchNorm, Concat, Add> auto&) {
            return false;
          },
          [](const AnyOf<Input, Lrn, Relu, Sigmoid, Tanh, Power, Dropout, Slice, Multiply, Maximum,
                         Flatten, Reshape, Scale, Softmax, Embedding, Lstm, MeanOverTime> auto&) {
            return true;
          },
          [](const LossOp auto&) { return true; }},
      op);
}

// Whether `op` may run in place on the output of `producer`, which may itself be in place. Dropout
// may overwrite the output of a ReLU: ReLU's backward pass reads only the sign, and where dropout
// zeroes it, the gradient is zero too.
bool MayOverwrite(const Op& op, const Op& producer) {
  return std::visit(
      Overload{
          [&](const Relu& relu) {
            return relu.negative_slope >= 0 && !ReadsOutputInCaffe(producer);
          },
          [&](const Dropout&) {
            return !ReadsOutputInCaffe(producer) || std::holds_alternative<Relu>(producer);
          },
          [&](const BatchNorm&) {
            return std::holds_alternative<Convolution>(producer) ||
                   std::holds_alternative<FullyConnected>(producer);
          },
          [](const AnyOf<Input, Convolution, Pooling, Lrn, Sigmoid, Tanh, Power, FullyConnected,
                         Concat, Slice, Add, Multiply, Maximum, Flatten, Reshape, Scale, Softmax,
                         Embedding, Lstm, MeanOverTime> auto&) { return false; },
          [](const LossOp auto&) { return false; }},
      op);
}

class Writer {
 public:
  Writer(const TypedGraph& graph, const Graph& plain, const CaffeData& data)
      : graph_(graph), data_(data), names_(DefaultCaffeNames(plain)) {
    for (const Layer& layer : InferenceGraph(plain).layers) inference_.insert(layer.name);
    uses_.resize(graph.layers.size());
    for (const TypedLayer& layer : graph.layers) {
      for (size_t input : layer.inputs) ++uses_[input];
    }
    tops_.resize(graph.layers.size());
  }

  Result<std::string> Write(const std::string& fingerprint) {
    text_ = fmt::format("# {} at batch {}, fingerprint {}; written by tench\n", graph_.name,
                        data_.batch, fingerprint);
    caffe::NetParameter head;
    head.set_name(graph_.name);
    text_ += head.DebugString();
    TENCH_TRY(WriteInputs());
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      const Layer& layer = graph_.layers[i].layer;
      if (std::holds_alternative<Input>(layer.op)) continue;
      TENCH_TRY(WriteLayer(i).In(fmt::format("layer '{}'", layer.name)));
    }
    return std::move(text_);
  }

 private:
  void Print(const caffe::LayerParameter& layer) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetInitialIndentLevel(1);
    std::string body;
    Check(printer.PrintToString(layer, &body), "protobuf cannot print a layer");
    text_ += fmt::format("layer {{\n{}}}\n", body);
  }

  Status WriteInputs();
  Status WriteData(const std::vector<size_t>& inputs, caffe::LayerParameter& to);
  Status WriteDummy(const TypedLayer& layer, caffe::DummyDataParameter& to);
  Status WriteLayer(size_t index);
  void WriteBatchNormLayers(const Layer& layer, const std::string& top, caffe::LayerParameter to);
  Status WriteSlices(size_t index, caffe::LayerParameter to);

  const TypedGraph& graph_;
  const CaffeData& data_;
  const CaffeNames names_;
  std::unordered_set<std::string> inference_;  // names of the layers in the forward phase
  std::vector<int> uses_;                      // by layer: number of readers
  std::vector<std::string> tops_;              // by layer: the blob that holds its output
  std::string text_;
};

void WriteShape(const Shape& shape, caffe::BlobShape& to) {
  for (const int64_t size : shape) to.add_dim(size);
}

Status Writer::WriteDummy(const TypedLayer& layer, caffe::DummyDataParameter& to) {
  const Input& input = std::get<Input>(layer.layer.op);
  WriteShape(layer.output.shape, *to.add_shape());
  caffe::FillerParameter& filler = *to.add_data_filler();
  if (input.fill.kind != FillKind::kInteger) return WriteFiller(input.fill, filler);
  // Caffe truncates labels to integers. Its uniform filler may return the upper bound, which would
  // be an invalid class.
  filler.set_type("uniform");
  filler.set_min(static_cast<float>(input.fill.a));
  filler.set_max(std::nextafterf(static_cast<float>(input.fill.b), 0));
  return Ok();
}

Status Writer::WriteData(const std::vector<size_t>& inputs, caffe::LayerParameter& to) {
  switch (data_.kind) {
    case CaffeData::Kind::kDummy:
      to.set_type("DummyData");
      for (const size_t input : inputs)
        TENCH_TRY(WriteDummy(graph_.layers[input], *to.mutable_dummy_data_param()));
      return Ok();
    case CaffeData::Kind::kHdf5:
      to.set_type("HDF5Data");
      to.mutable_hdf5_data_param()->set_source(data_.source);
      to.mutable_hdf5_data_param()->set_batch_size(static_cast<uint32_t>(data_.batch));
      return Ok();
    case CaffeData::Kind::kLmdb:
      if (inputs.size() > 2)
        return Unsupported(
            "Caffe's LMDB has one datum and one label per sample, but the network has {} inputs",
            inputs.size());
      to.set_type("Data");
      to.mutable_data_param()->set_source(data_.source);
      to.mutable_data_param()->set_batch_size(static_cast<uint32_t>(data_.batch));
      to.mutable_data_param()->set_backend(caffe::DataParameter::LMDB);
      return Ok();
    case CaffeData::Kind::kInput:
      to.set_type("Input");
      for (const size_t input : inputs)
        WriteShape(graph_.layers[input].output.shape, *to.mutable_input_param()->add_shape());
      return Ok();
  }
  return Ok();
}

Status Writer::WriteInputs() {
  caffe::LayerParameter layer;
  std::vector<size_t> inputs;
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    const Layer& source = graph_.layers[i].layer;
    const Input* input = std::get_if<Input>(&source.op);
    if (input == nullptr) continue;
    if (input->role == InputRole::kTokens || input->role == InputRole::kLengths)
      return Unsupported("layer '{}': Caffe has no layer for token sequences of variable length",
                         source.name);
    inputs.push_back(i);
    tops_[i] = source.name;
    layer.add_top(source.name);
  }
  layer.set_name(graph_.layers[inputs.at(0)].layer.name);
  // Only the data files have the shapes; the comment lets ReadPrototxt recover them.
  if (data_.kind == CaffeData::Kind::kHdf5 || data_.kind == CaffeData::Kind::kLmdb) {
    for (const size_t i : inputs) {
      const Input& input = std::get<Input>(graph_.layers[i].layer.op);
      if (input.role == InputRole::kData)
        text_ +=
            fmt::format("# tench: {} is {}\n", graph_.layers[i].layer.name, ToString(input.shape));
    }
  }
  TENCH_TRY(WriteData(inputs, layer));
  Print(layer);
  return Ok();
}

void Writer::WriteBatchNormLayers(const Layer& layer, const std::string& top,
                                  caffe::LayerParameter to) {
  const BatchNorm& op = std::get<BatchNorm>(layer.op);
  caffe::LayerParameter scale = to;
  scale.set_bottom(0, top);
  WriteBatchNorm(layer, to, scale);
  Print(to);
  if (!op.affine) return;
  scale.set_name(names_.scales.at(layer.name).name);
  Print(scale);
}

// One Slice layer in Caffe makes all pieces of a blob, so it is written at the first slice. Unread
// pieces go to a Silence layer, which gives them a zero gradient.
Status Writer::WriteSlices(size_t index, caffe::LayerParameter to) {
  const size_t input = graph_.layers[index].inputs.at(0);
  to.set_type("Slice");
  to.clear_top();
  caffe::LayerParameter silence;
  silence.set_name(to.name() + "_silence");
  silence.set_type("Silence");
  *silence.mutable_include() = to.include();
  int64_t end = 0;
  const auto cut = [&](int64_t begin, const std::string& top) {
    if (begin > 0) to.mutable_slice_param()->add_slice_point(static_cast<uint32_t>(begin));
    to.add_top(top);
  };
  const auto skip_to = [&](int64_t begin) {
    if (begin == end) return;
    silence.add_bottom(fmt::format("{}_rest{}", to.name(), silence.bottom_size() + 1));
    cut(end, silence.bottom(silence.bottom_size() - 1));
    end = begin;
  };
  for (size_t i = index; i < graph_.layers.size(); ++i) {
    const TypedLayer& piece = graph_.layers[i];
    const Slice* slice = std::get_if<Slice>(&piece.layer.op);
    if (slice == nullptr || piece.inputs[0] != input) continue;
    if (slice->begin < end)
      return Unsupported(
          "Caffe's slices cannot overlap, but '{}' begins at {}, inside the previous slice",
          piece.layer.name, slice->begin);
    skip_to(slice->begin);
    tops_[i] = piece.layer.name;
    cut(slice->begin, piece.layer.name);
    end = slice->end;
  }
  skip_to(graph_.layers[input].output.shape[1]);
  Print(to);
  if (silence.bottom_size() > 0) Print(silence);
  return Ok();
}

Status Writer::WriteLayer(size_t index) {
  const TypedLayer& typed = graph_.layers[index];
  const Layer& layer = typed.layer;
  if (std::holds_alternative<Slice>(layer.op) && !tops_[index].empty()) return Ok();
  caffe::LayerParameter to;
  to.set_name(layer.name);
  for (const size_t input : typed.inputs) to.add_bottom(tops_[input]);
  const size_t first = typed.inputs.at(0);
  const bool in_place = uses_[first] == 1 && MayOverwrite(layer.op, graph_.layers[first].layer.op);
  tops_[index] = in_place ? tops_[first] : layer.name;
  to.add_top(tops_[index]);
  if (!inference_.contains(layer.name)) to.add_include()->set_phase(caffe::TRAIN);
  if (std::holds_alternative<BatchNorm>(layer.op))
    return WriteBatchNormLayers(layer, tops_[index], std::move(to)), Ok();
  if (std::holds_alternative<Slice>(layer.op)) return WriteSlices(index, std::move(to));
  TENCH_TRY(WriteOp(graph_, index, to));
  const Pooling* pool = std::get_if<Pooling>(&layer.op);
  if (pool != nullptr && !pool->global && !pool->ceil_mode &&
      RoundingIsIdle(*pool, graph_.InputType(index, 0).shape))
    text_ += fmt::format("# tench: {} rounds down; Caffe rounds up, which is the same here\n",
                         layer.name);
  Print(to);
  return Ok();
}

}  // namespace

Result<std::string> WriteTrainPrototxt(const Graph& graph, const CaffeData& data) {
  const TypedGraph typed = TENCH_TRY(Infer(graph, data.batch));
  return Writer(typed, graph, data).Write(Fingerprint(graph)).In(graph.name);
}

}  // namespace tench
