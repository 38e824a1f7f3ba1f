// SPDX-License-Identifier: Apache-2.0
// Layers are converted in the order of the file. The shape of each is inferred at once, so that an
// error has the line of its layer. `owners_` maps each blob to the layer that produced its current
// value: an in-place layer becomes the new owner of its blob.
#include "net/caffe/net_reader.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "net/caffe/bn_scale_fusion.h"
#include "net/caffe/layer_reader.h"
#include "net/caffe/layer_writer.h"
#include "net/caffe/net_state.h"
#include "net/caffe/output_loss.h"
#include "net/op_parameters.h"
#include "net/op_shape.h"

namespace tench {
namespace {

// Types that training does not need.
bool IsIdle(const std::string& type) {
  static const std::set<std::string> kTypes = {"Accuracy", "ArgMax", "HDF5Output", "Silence"};
  return kTypes.contains(type);
}

// Names in tench are printable ASCII without spaces.
std::string PlainName(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c <= ' ' || c > '~'; }, '_');
  return name;
}

class NetReader {
 public:
  NetReader(const NetSource& source, const CaffeState& state) : source_(source), net_(source.net) {
    state_ = net_.state();
    state_.set_phase(state.test ? caffe::TEST : caffe::TRAIN);
    if (state.level != 0) state_.set_level(state.level);
    for (const std::string& stage : state.stages) state_.add_stage(stage);
  }

  Result<CaffeNetwork> Read();

 private:
  struct Active {
    const caffe::LayerParameter* layer;
    int line;
    bool in_test;
  };
  struct Place {
    int line;
    bool active;
  };

  std::string Where(const caffe::LayerParameter& layer, int line) const {
    return fmt::format(
        "{}:{}: layer '{}'", source_.origin, line,
        Printable(layer.name().empty() && layer.top_size() > 0 ? layer.top(0) : layer.name()));
  }
  DataFacts Facts() const { return {source_.remarks, labels_, unit_, source_.sample, net_.name()}; }
  Status SelectLayers();
  Status CheckUnknown() const;
  void FindLabels();
  Status AddInputs(std::vector<CaffeInput> inputs);
  Status AddLayer(const Active& active);
  Status AddOp(const caffe::LayerParameter& layer);
  Status AddSlices(const caffe::LayerParameter& layer);
  Status AddLoss(const Active& active);
  void AddAccuracy(const caffe::LayerParameter& layer);
  Status CheckParams(const caffe::LayerParameter& layer);
  Result<std::vector<size_t>> Bottoms(const caffe::LayerParameter& layer) const;
  std::vector<Shape> ShapesOf(const std::vector<size_t>& layers) const;
  Result<size_t> Append(const std::string& name, Op op, const std::vector<size_t>& inputs,
                        const ParameterRule& weight = {}, const ParameterRule& bias = {});
  Result<size_t> Flattened(size_t input, const std::string& name);
  void OpenClasses(size_t label, int64_t classes);

  const NetSource& source_;
  const caffe::NetParameter& net_;
  caffe::NetState state_;
  std::vector<Active> active_;
  std::vector<Place> places_;     // one per layer of the file
  bool main_loss_ = false;        // whether the phase TEST has a loss
  std::set<std::string> labels_;  // blobs with class indices
  bool unit_ = false;
  std::unordered_map<std::string, size_t> owners_;       // blob -> layer
  std::unordered_map<std::string, std::string> shared_;  // parameter name -> its first layer
  std::set<std::string> names_taken_;
  std::map<size_t, size_t> flattened_;  // layer -> the flatten that reads it
  std::set<size_t> classes_open_;
  std::set<std::string> silenced_;  // layers that a Silence reads
  std::vector<TypedLayer> typed_;
  CaffeNetwork result_;
};

Status NetReader::SelectLayers() {
  caffe::NetState test = state_;
  test.set_phase(caffe::TEST);
  for (int i = 0; i < net_.layer_size(); ++i) {
    const caffe::LayerParameter& layer = net_.layer(i);
    const int line = LineOf(source_.tree, net_, net_.layers_size() > 0 ? "layers" : "layer", i);
    const bool in_train = TENCH_TRY(BelongsTo(layer, state_).In(Where(layer, line)));
    const bool in_test = TENCH_TRY(BelongsTo(layer, test).In(Where(layer, line)));
    places_.push_back({line, in_train});
    if (!in_train) continue;
    active_.push_back({&layer, line, in_test});
    main_loss_ = main_loss_ || (in_test && IsLossType(layer.type()));
  }
  if (active_.size() > kMaxLayers)
    return Failed("{}: the network has more than {} layers", source_.origin, kMaxLayers);
  return Ok();
}

// An unknown field of an unsupported layer type is not reported: the error about the type is the
// better message.
Status NetReader::CheckUnknown() const {
  for (const UnknownField& field : source_.unknown) {
    const auto after =
        std::upper_bound(places_.begin(), places_.end(), field.line,
                         [](int line, const Place& place) { return line < place.line; });
    const std::string where = fmt::format("{}:{}:{}", source_.origin, field.line, field.column);
    if (after == places_.begin()) return Failed("{}: {}", where, Printable(field.message));
    const caffe::LayerParameter& layer = net_.layer(static_cast<int>(after - places_.begin()) - 1);
    if (std::prev(after)->active && IsKnownType(layer.type()))
      return Failed("{}: layer '{}': {}", where, Printable(layer.name()), Printable(field.message));
  }
  return Ok();
}

void NetReader::FindLabels() {
  // In reverse order, so that a Split is visited after the readers of its tops.
  for (auto active = active_.rbegin(); active != active_.rend(); ++active) {
    const caffe::LayerParameter& layer = *active->layer;
    unit_ = unit_ || layer.type() == "SigmoidCrossEntropyLoss";
    if (layer.type() == "SoftmaxWithLoss" && layer.bottom_size() == 2)
      labels_.insert(layer.bottom(1));
    if (layer.type() != "Split" || layer.bottom_size() != 1) continue;
    for (const std::string& top : layer.top()) {
      if (labels_.contains(top)) labels_.insert(layer.bottom(0));
    }
  }
}

Result<size_t> NetReader::Append(const std::string& name, Op op, const std::vector<size_t>& inputs,
                                 const ParameterRule& weight, const ParameterRule& bias) {
  std::string unique = PlainName(name);
  for (int i = 2; !names_taken_.insert(unique).second; ++i)
    unique = fmt::format("{}_{}", PlainName(name), i);
  if (unique != name) result_.names.layers[unique] = name;
  Layer layer{unique, std::move(op), {}, weight, bias};
  std::vector<const TypedLayer*> typed_inputs;
  for (const size_t input : inputs) {
    layer.inputs.push_back(typed_[input].layer.name);
    typed_inputs.push_back(&typed_[input]);
  }
  TypedLayer typed{layer, inputs, {}, {}};
  typed.output = TENCH_TRY(OutputType(layer.op, typed_inputs, std::max<int64_t>(result_.batch, 1)));
  TENCH_TRY(LayerParameters(layer, typed_inputs));  // only for its checks
  typed_.push_back(std::move(typed));
  return typed_.size() - 1;
}

Status NetReader::AddInputs(std::vector<CaffeInput> inputs) {
  for (CaffeInput& input : inputs) {
    if (input.batch > 0 && result_.batch > 0 && input.batch != result_.batch)
      return Failed("'{}' has a batch of {}, but another input has {}", Printable(input.top),
                    input.batch, result_.batch);
    if (input.batch > 0) result_.batch = input.batch;
    if (!input.note.empty()) result_.notes.push_back(std::move(input.note));
    if (input.classes_open) input.input.fill = {FillKind::kInteger, 0, 1};
    const size_t index = TENCH_TRY(Append(input.top, input.input, {}));
    if (input.classes_open) classes_open_.insert(index);
    owners_[input.top] = index;
  }
  return Ok();
}

Result<std::vector<size_t>> NetReader::Bottoms(const caffe::LayerParameter& layer) const {
  std::vector<size_t> bottoms;
  for (const std::string& bottom : layer.bottom()) {
    const auto owner = owners_.find(bottom);
    if (owner == owners_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, index] : owners_) names.push_back(Printable(name));
      return Failed("no earlier layer produces the bottom '{}'{}", Printable(bottom),
                    Hint(bottom, names));
    }
    bottoms.push_back(owner->second);
  }
  return bottoms;
}

std::vector<Shape> NetReader::ShapesOf(const std::vector<size_t>& layers) const {
  std::vector<Shape> shapes;
  for (const size_t layer : layers) shapes.push_back(typed_[layer].output.shape);
  return shapes;
}

Result<size_t> NetReader::Flattened(size_t input, const std::string& name) {
  const auto known = flattened_.find(input);
  if (known != flattened_.end()) return known->second;
  const size_t flat = TENCH_TRY(Append(name + "_flatten", Flatten{}, {input}));
  flattened_[input] = flat;
  return flat;
}

void NetReader::OpenClasses(size_t label, int64_t classes) {
  if (!classes_open_.contains(label)) return;
  Input& input = std::get<Input>(typed_[label].layer.op);
  const double known = input.fill.b;
  input.fill.b =
      known == 1 ? static_cast<double>(classes) : std::min(known, static_cast<double>(classes));
}

Status NetReader::CheckParams(const caffe::LayerParameter& layer) {
  for (const bool down : layer.propagate_down()) {
    if (!down) return Unsupported("propagate_down: false is not supported");
  }
  for (const caffe::ParamSpec& param : layer.param()) {
    if (param.name().empty()) continue;
    const auto [other, is_new] = shared_.emplace(param.name(), layer.name());
    if (!is_new)
      return Unsupported("it shares the weights '{}' with layer '{}', which is not supported",
                         Printable(param.name()), Printable(other->second));
  }
  return Ok();
}

Status NetReader::AddSlices(const caffe::LayerParameter& layer) {
  const std::vector<size_t> bottoms = TENCH_TRY(Bottoms(layer));
  if (bottoms.size() != 1) return Failed("it has {} bottoms; it must have one", bottoms.size());
  const std::vector<Slice> pieces = TENCH_TRY(ReadSlices(layer, typed_[bottoms[0]].output.shape));
  std::vector<size_t> made;
  for (size_t i = 0; i < pieces.size(); ++i)
    made.push_back(TENCH_TRY(Append(layer.top(static_cast<int>(i)), pieces[i], bottoms)));
  for (size_t i = 0; i < made.size(); ++i) owners_[layer.top(static_cast<int>(i))] = made[i];
  return Ok();
}

Status NetReader::AddLoss(const Active& active) {
  const caffe::LayerParameter& layer = *active.layer;
  std::vector<size_t> bottoms = TENCH_TRY(Bottoms(layer));
  std::optional<Op> op = TENCH_TRY(ReadLoss(layer, ShapesOf(bottoms)));
  if (!op) {
    result_.notes.push_back(
        fmt::format("the loss '{}' has the weight 0 and is left out", Printable(layer.name())));
    return Ok();
  }
  if (auto* softmax = std::get_if<SoftmaxCrossEntropy>(&*op)) {
    softmax->auxiliary = main_loss_ && !active.in_test;
    const Shape& scores = typed_[bottoms[0]].output.shape;
    const bool per_sample = scores.size() > 2 && ElementCount(scores) == scores[0] * scores[1];
    if (per_sample) bottoms[0] = TENCH_TRY(Flattened(bottoms[0], layer.name()));
    if (scores.size() >= 2) OpenClasses(bottoms[1], scores[1]);
  } else if (ShapesOf(bottoms)[0].size() != ShapesOf(bottoms)[1].size()) {
    for (size_t& bottom : bottoms) {
      if (typed_[bottom].output.shape.size() > 2)
        bottom = TENCH_TRY(Flattened(bottom, layer.name()));
    }
  }
  TENCH_TRY(Append(layer.name(), *op, bottoms));
  return Ok();
}

Status NetReader::AddOp(const caffe::LayerParameter& layer) {
  std::vector<size_t> bottoms = TENCH_TRY(Bottoms(layer));
  std::optional<ReadOp> read = TENCH_TRY(ReadLayer(layer, ShapesOf(bottoms)));
  if (!read)
    return Unsupported(
        "layers of the type '{}' are not supported; supported besides data and losses: {}",
        Printable(layer.type()), KnownTypes());
  if (layer.top_size() != 1) return Failed("it has {} tops; it must have one", layer.top_size());
  for (const float weight : layer.loss_weight()) {
    if (weight != 0) return Unsupported("a loss_weight is supported on losses only");
  }
  if (std::holds_alternative<Concat>(read->op) && bottoms.size() == 1) {
    owners_[layer.top(0)] = bottoms[0];
    return Ok();
  }
  if (read->flatten) bottoms[0] = TENCH_TRY(Flattened(bottoms[0], layer.name()));
  if (auto* pool = std::get_if<Pooling>(&read->op);
      pool != nullptr && source_.remarks.rounded_down.contains(layer.name()) && !pool->global &&
      RoundingIsIdle(*pool, typed_[bottoms[0]].output.shape)) {
    pool->ceil_mode = false;
  }
  owners_[layer.top(0)] = TENCH_TRY(Append(layer.name().empty() ? layer.top(0) : layer.name(),
                                           read->op, bottoms, read->weight, read->bias));
  return Ok();
}

// Only of scores per sample; a test that needs another says so.
void NetReader::AddAccuracy(const caffe::LayerParameter& layer) {
  if (layer.bottom_size() != 2) return;
  const auto scores = owners_.find(layer.bottom(0));
  if (scores == owners_.end()) return;
  const caffe::AccuracyParameter& param = layer.accuracy_param();
  CaffeAccuracy accuracy{layer.top_size() > 0 ? layer.top(0) : layer.name(),
                         typed_[scores->second].layer.name,
                         param.top_k(),
                         {}};
  if (param.has_ignore_label()) accuracy.ignore_label = param.ignore_label();
  result_.accuracies.push_back(std::move(accuracy));
}

Status NetReader::AddLayer(const Active& active) {
  const caffe::LayerParameter& layer = *active.layer;
  TENCH_TRY(CheckParams(layer));
  if (IsDataLayer(layer.type())) return AddInputs(TENCH_TRY(ReadDataLayer(layer, Facts())));
  if (layer.type() == "Accuracy") AddAccuracy(layer);
  if (layer.type() == "Accuracy")
    result_.notes.push_back(
        fmt::format("the layer '{}' (Accuracy) is left out", Printable(layer.name())));
  if (layer.type() == "Silence") {
    for (const size_t bottom : TENCH_TRY(Bottoms(layer)))
      silenced_.insert(typed_[bottom].layer.name);
  }
  if (IsIdle(layer.type())) return Ok();
  if (IsLossType(layer.type())) return AddLoss(active);
  if (layer.type() == "Slice") return AddSlices(layer);
  if (layer.type() != "Split") return AddOp(layer);
  const std::vector<size_t> bottoms = TENCH_TRY(Bottoms(layer));
  if (bottoms.size() != 1) return Failed("it has {} bottoms; it must have one", bottoms.size());
  for (const std::string& top : layer.top()) owners_[top] = bottoms[0];
  return Ok();
}

Result<CaffeNetwork> NetReader::Read() {
  if (net_.layer_size() == 0 && net_.layers_size() > 0)
    return Failed(
        "{}: an inline network with layers in Caffe's V1 format (`layers`); put it in a file",
        source_.origin);
  TENCH_TRY(SelectLayers());
  TENCH_TRY(CheckUnknown());
  FindLabels();
  if (net_.input_size() > 0) {
    std::vector<CaffeInput> inputs = TENCH_TRY(ReadNetInputs(net_, Facts()).In(source_.origin));
    TENCH_TRY(AddInputs(std::move(inputs)).In(source_.origin));
  }
  for (const Active& active : active_)
    TENCH_TRY(AddLayer(active).In(Where(*active.layer, active.line)));
  result_.graph.name = PlainName(
      net_.name().empty() ? std::filesystem::path(source_.origin).stem().string() : net_.name());
  if (result_.graph.name.empty()) result_.graph.name = "network";
  for (std::string& note : AddOutputLosses(silenced_, typed_))
    result_.notes.push_back(std::move(note));
  for (TypedLayer& typed : typed_) result_.graph.layers.push_back(std::move(typed.layer));
  FuseBatchNorms(result_);
  DropUnused(result_);
  TENCH_TRY(Infer(result_.graph, std::max<int64_t>(result_.batch, 1)).In(source_.origin));
  return std::move(result_);
}

}  // namespace

Result<CaffeNetwork> ReadNet(const NetSource& source, const CaffeState& state) {
  return NetReader(source, state).Read();
}

}  // namespace tench
