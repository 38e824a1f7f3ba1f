// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/net_text.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "net/caffe/blob_place.h"
#include "net/caffe/prototxt_writer.h"
#include "net/caffe/schema.pb.h"
#include "workers/caffe/hdf5_file.h"

namespace tench::caffe_worker {
namespace {

Graph Plain(const TypedGraph& graph) {
  Graph plain;
  plain.name = graph.name;
  for (const TypedLayer& layer : graph.layers) plain.layers.push_back(layer.layer);
  return plain;
}

class NetEditor {
 public:
  NetEditor(const TypedGraph& graph, const NetForm& form, const CaffeNames& names)
      : graph_(graph), form_(form), names_(names) {}

  Result<NetText> Edit(const std::string& source) {
    caffe::NetParameter from;
    Check(google::protobuf::TextFormat::ParseFromString(source, &from),
          "a prototxt that tench wrote does not parse");
    to_.set_name(from.name());
    for (const caffe::LayerParameter& layer : from.layer()) AddLayer(layer);
    result_.slots = TENCH_TRY(Slots());
    Check(google::protobuf::TextFormat::PrintToString(to_, &result_.text),
          "a network does not print");
    if (form_.apart) {
      for (const caffe::LayerParameter& layer : to_.layer()) {
        if (result_.factors.contains(layer.name())) AddSilentLoss(layer);
      }
      TENCH_TRY(AddOutputs());
    }
    return std::move(result_);
  }

 private:
  void AddLayer(caffe::LayerParameter layer) {
    const bool is_data = to_.layer_size() == 0;
    const bool in_place =
        layer.bottom_size() > 0 && layer.top_size() > 0 && layer.bottom(0) == layer.top(0);
    const std::string top = layer.top_size() > 0 ? layer.top(0) : "";
    for (std::string& bottom : *layer.mutable_bottom()) bottom = blob_.at(bottom);
    if (is_data) {
      for (int i = 0; i < layer.top_size(); ++i) {
        output_of_[layer.top(i)] = blob_[layer.top(i)] = InputName(static_cast<size_t>(i));
        layer.set_top(i, InputName(static_cast<size_t>(i)));
      }
    } else if (layer.type() == "Dropout" && !form_.dropout) {
      output_of_[layer.name()] = blob_[top] = layer.bottom(0);
      return;
    } else if (layer.top_size() > 1) {
      for (const std::string& each : layer.top()) output_of_[each] = blob_[each] = each;
    } else if (layer.top_size() == 1) {
      const std::string renamed = in_place && !form_.apart ? layer.bottom(0) : layer.name();
      output_of_[layer.name()] = blob_[top] = renamed;
      layer.set_top(0, renamed);
    }
    if (form_.as_training) {
      layer.clear_include();
      if (layer.type() == "BatchNorm")
        layer.mutable_batch_norm_param()->set_use_global_stats(false);
    }
    // Caffe requires lr_mult 0 for the statistics of a batch norm.
    if (form_.equal_rates && layer.type() != "BatchNorm") layer.clear_param();
    if (layer.type().ends_with("Loss")) {
      const double weight = layer.loss_weight_size() > 0 ? double{layer.loss_weight(0)} : 1;
      result_.losses.push_back({layer.top(0), weight});
      result_.factors[layer.name()] = weight;
    }
    *to_.add_layer() = std::move(layer);
  }

  Result<std::vector<BlobSlot>> Slots() const {
    const auto places = TENCH_TRY(BlobPlaces(graph_, names_));
    std::vector<BlobSlot> slots;
    for (const caffe::LayerParameter& layer : to_.layer()) {
      std::vector<BlobSlot> own;
      for (size_t i = 0; i < places.size(); ++i) {
        if (!places[i] || places[i]->layer != layer.name() || places[i]->type != layer.type())
          continue;
        const auto index = static_cast<size_t>(places[i]->index);
        if (own.size() <= index) own.resize(index + 1);
        own[index] = {i, graph_.parameters[i].shape};
      }
      if (layer.type() == "BatchNorm") own.push_back({std::nullopt, {1}});
      slots.insert(slots.end(), own.begin(), own.end());
    }
    return slots;
  }

  void Append(const caffe::LayerParameter& layer, const std::string& more) {
    std::string body;
    Check(google::protobuf::TextFormat::PrintToString(layer, &body), "a layer does not print");
    result_.text += fmt::format("layer {{\n{}{}}}\n", body, more);
  }

  // A loss that another layer reads would be counted twice: Caffe applies the layer's default
  // weight again when it splits the blob. The reader gets a second loss layer of weight 0 instead.
  void AddSilentLoss(caffe::LayerParameter loss) {
    const std::string name = loss.name();
    loss.set_name("tench copy of " + name);
    loss.set_top(0, loss.name());
    loss.clear_loss_weight();
    loss.add_loss_weight(0);
    output_of_[name] = loss.top(0);
    Append(loss, "");
  }

  // The blob with a layer's output; for a batch norm, the output of its Scale layer.
  Result<std::string> BlobOf(const std::string& layer) const {
    const auto scale = names_.scales.find(layer);
    const auto found = output_of_.find(scale == names_.scales.end() ? layer : scale->second.name);
    if (found == output_of_.end())
      return Unsupported("layer '{}' is part of another layer in Caffe and has no output", layer);
    return found->second;
  }

  Status AddOutputs() {
    std::vector<std::string> layers = form_.outputs;
    for (const auto& [layer, factor] : result_.factors) layers.push_back(layer);
    std::map<std::string, std::string> file_of;  // by blob
    for (const std::string& layer : layers) {
      const std::string blob = TENCH_TRY(BlobOf(layer));
      const auto [file, is_new] = file_of.emplace(blob, fmt::format("output{}.h5", file_of.size()));
      result_.files[layer] = file->second;
      if (!is_new) continue;
      caffe::LayerParameter output;
      output.set_name("tench output of " + blob);
      output.set_type("HDF5Output");
      output.add_bottom(blob);
      output.add_bottom(blob);
      Append(output, fmt::format("hdf5_output_param {{ file_name: \"{}\" }}\n", file->second));
    }
    return Ok();
  }

  const TypedGraph& graph_;
  const NetForm& form_;
  const CaffeNames& names_;
  caffe::NetParameter to_;
  NetText result_;
  // Name in the source -> name in the output, at the current layer.
  std::map<std::string, std::string> blob_;
  std::map<std::string, std::string> output_of_;  // Caffe's layer -> blob
};

}  // namespace

Result<NetText> WriteNet(const TypedGraph& graph, const std::string& list, const NetForm& form) {
  const Graph plain = Plain(graph);
  CaffeData data;
  data.kind = CaffeData::Kind::kHdf5;
  data.source = list;
  data.batch = graph.batch;
  const std::string source = TENCH_TRY(WriteTrainPrototxt(plain, data));
  const CaffeNames names = DefaultCaffeNames(plain);
  return NetEditor(graph, form, names).Edit(source);
}

}  // namespace tench::caffe_worker
