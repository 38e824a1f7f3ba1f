// SPDX-License-Identifier: Apache-2.0
// Each op lists its fields once, in a Visit function (op_fields.h), for two visitors. Writer omits
// fields at their default; Reader substitutes the default for missing fields. So the two directions
// cannot diverge, and the written form is canonical.
#include "net/graph_json.h"

#include <array>
#include <cmath>

#include "base/text.h"
#include "net/op_fields.h"
#include "net/op_parameters.h"
#include "net/op_traits.h"

namespace tench {
namespace {

const std::vector<std::string> kFillKinds = {"constant", "uniform",      "gaussian", "xavier",
                                             "msra",     "msra_fan_out", "integer"};
// Integral values are written without a fraction: "10", not "10.0".
Json NumberToJson(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) return static_cast<int64_t>(value);
  return RealToJson(value);
}

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  void Required(const char* key, int64_t value) { object_[key] = value; }
  void Required(const char* key, double value) { object_[key] = NumberToJson(value); }
  void Field(const char* key, int64_t value, int64_t fallback) {
    Set(key, value, value != fallback);
  }
  void Field(const char* key, bool value, bool fallback) { Set(key, value, value != fallback); }
  void Field(const char* key, double value, double fallback) {
    Set(key, NumberToJson(value), value != fallback);
  }
  void Field(const char* key, Hw value, Hw fallback) {
    Set(key, value.h == value.w ? Json(value.h) : Json::array({value.h, value.w}),
        value != fallback);
  }
  void Field(const char* key, const Shape& value) { Set(key, value, !value.empty()); }
  void Field(const char* key, const std::optional<int64_t>& value) {
    Set(key, value.value_or(0), value.has_value());
  }
  void Field(const char* key, const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(NumberToJson(value));
    Set(key, std::move(list), !values.empty());
  }
  template <class Enum>
  void Choice(const char* key, Enum value, Enum fallback, const std::vector<std::string>& names) {
    Set(key, names[static_cast<size_t>(value)], value != fallback);
  }
  void Fills(const char* key, const Fill& fill, const Fill& fallback);

 private:
  void Set(const char* key, Json value, bool wanted) {
    if (wanted) object_[key] = std::move(value);
  }
  Json& object_;
};

class Reader {
 public:
  Reader(const Json& object, const std::string& path) : object_(object), fields_(object, path) {}
  Fields& fields() { return fields_; }

  const Json* Find(const char* key) const { return fields_.Has(key) ? &object_.at(key) : nullptr; }

  void Required(const char* key, int64_t& value) { value = fields_.Integer(key, 0, kMaxSize); }
  void Required(const char* key, double& value) { Finite(key, value = fields_.Real(key)); }
  void Field(const char* key, int64_t& value, int64_t fallback) {
    value = fields_.Integer(key, 0, kMaxSize, fallback);
  }
  void Field(const char* key, bool& value, bool fallback) { value = fields_.Bool(key, fallback); }
  void Field(const char* key, double& value, double fallback) {
    Finite(key, value = fields_.Real(key, fallback));
  }
  void Field(const char* key, Hw& value, Hw fallback) {
    value = fallback;
    const Json* given = Find(key);
    if (given != nullptr && given->is_array()) {
      const std::vector<int64_t> sizes = Sizes(key);
      if (sizes.size() == 2) {
        value = {sizes[0], sizes[1]};
      } else {
        fields_.Fail(key, "must be one integer, or two for height and width");
      }
    } else if (given != nullptr) {
      value.h = value.w = fields_.Integer(key, 0, kMaxSize);
    }
    Known(key);
  }
  void Field(const char* key, Shape& value) {
    value = Find(key) == nullptr ? Shape{} : Sizes(key);
    Known(key);
  }
  void Field(const char* key, std::optional<int64_t>& value) {
    value.reset();
    if (Find(key) != nullptr) value = fields_.Integer(key, -kMaxSize, kMaxSize);
    Known(key);
  }
  void Field(const char* key, std::vector<double>& values) {
    values.clear();
    if (Find(key) != nullptr) values = fields_.Reals(key);
    for (const double value : values) Finite(key, value);
    Known(key);
  }
  template <class Enum>
  void Choice(const char* key, Enum& value, Enum fallback, const std::vector<std::string>& names) {
    const std::string name = fields_.String(key, names[static_cast<size_t>(fallback)]);
    value = fallback;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) {
        value = static_cast<Enum>(i);
        return;
      }
    }
    fields_.Fail(key, fmt::format("'{}' is none of {}{}", Printable(name), Join(names, ", "),
                                  Hint(name, names)));
  }
  void Fills(const char* key, Fill& fill, const Fill& fallback);
  // Registers the key with Fields, so that spelling hints can suggest it.
  void Known(const char* key) {
    if (Find(key) == nullptr) fields_.Bool(key, false);
  }

 private:
  void Finite(const char* key, double value) {
    if (!std::isfinite(value)) fields_.Fail(key, "must be finite");
  }
  Shape Sizes(const char* key) {
    Shape sizes;
    for (const Json& item : fields_.Array(key)) {
      if (!item.is_number_integer() || item < 0 || item > kMaxSize) {
        fields_.Fail(key, fmt::format("must be a list of integers from 0 to {}", kMaxSize));
        return {};
      }
      sizes.push_back(item.get<int64_t>());
    }
    return sizes;
  }

  const Json& object_;
  Fields fields_;
};

template <class Io>
void Visit(Io& io, Fill& fill) {
  switch (fill.kind) {
    case FillKind::kConstant:
      io.Required("value", fill.a);
      return;
    case FillKind::kUniform:
    case FillKind::kInteger:
      io.Required("low", fill.a);
      io.Required("high", fill.b);
      return;
    case FillKind::kGaussian:
      io.Required("mean", fill.a);
      io.Required("std", fill.b);
      return;
    case FillKind::kXavier:
    case FillKind::kMsra:
    case FillKind::kMsraFanOut:
      return;
  }
}

Json FillToJson(Fill fill) {
  Json json = {{"kind", kFillKinds[static_cast<size_t>(fill.kind)]}};
  Writer writer(json);
  Visit(writer, fill);
  return json;
}

void Writer::Fills(const char* key, const Fill& fill, const Fill& fallback) {
  Set(key, FillToJson(fill), fill != fallback);
}

void Reader::Fills(const char* key, Fill& fill, const Fill& fallback) {
  fill = fallback;
  Known(key);
  if (Find(key) == nullptr) return;
  fill = {};
  Reader reader(fields_.Object(key), "");
  if (reader.Find("kind") == nullptr) return fields_.Fail(key, "kind is missing");
  reader.Choice("kind", fill.kind, FillKind::kConstant, kFillKinds);
  Visit(reader, fill);
  const Status done = reader.fields().Finish();
  if (!done.ok()) fields_.Fail(key, done.error().message);
}

// The rule of a parameter that the file does not mention. A default ParameterRule would start
// weights at zero, which do not train.
ParameterRule DefaultRule(const Op& op, bool weight) {
  if (!weight || !HasWeight(op)) return {};
  const Fill fill =
      std::visit(Overload{[](const AnyOf<BatchNorm, Scale> auto&) {
                            return Fill{FillKind::kConstant, 1, 0};
                          },
                          [](const AnyOf<Convolution, FullyConnected, Embedding, Lstm> auto&) {
                            return Fill{FillKind::kXavier, 0, 0};
                          },
                          [](const ParameterlessOp auto&) { return Fill{}; }},
                 op);
  return {fill, 1, 1};
}

template <class Io>
void Visit(Io& io, ParameterRule& rule, const ParameterRule& fallback) {
  io.Fills("fill", rule.fill, fallback.fill);
  io.Field("lr_mult", rule.lr_mult, fallback.lr_mult);
  io.Field("decay_mult", rule.decay_mult, fallback.decay_mult);
}

void WriteRule(Json& json, const char* key, ParameterRule rule, const ParameterRule& fallback) {
  if (rule == fallback) return;
  json[key] = Json::object();
  Writer writer(json[key]);
  Visit(writer, rule, fallback);
}

void ReadRule(Reader& reader, const char* key, ParameterRule& rule, const ParameterRule& fallback) {
  rule = fallback;
  reader.Known(key);
  if (reader.Find(key) == nullptr) return;
  Reader inner(reader.fields().Object(key), "");
  Visit(inner, rule, fallback);
  const Status done = inner.fields().Finish();
  if (!done.ok()) reader.fields().Fail(key, done.error().message);
}

// The op's `bias` field; null for ops without one.
bool* BiasSwitch(Op& op) {
  return std::visit(
      Overload{[](AnyOf<Convolution, FullyConnected, Scale> auto& each) { return &each.bias; },
               [](AnyOf<BatchNorm, Embedding, Lstm> auto&) -> bool* { return nullptr; },
               [](ParameterlessOp auto&) -> bool* { return nullptr; }},
      op);
}

Json LayerToJson(const Layer& layer) {
  Json json = {{"name", layer.name}, {"op", OpName(layer.op)}};
  if (!layer.inputs.empty()) json["inputs"] = layer.inputs;
  Writer writer(json);
  Op op = layer.op;
  std::visit([&](auto& alternative) { Visit(writer, alternative); }, op);
  WriteRule(json, "weight", layer.weight, DefaultRule(op, true));
  const bool* bias = BiasSwitch(op);
  if (bias != nullptr && !*bias) {
    json["bias"] = false;
  } else {
    WriteRule(json, "bias", layer.bias, {});
  }
  return json;
}

template <size_t... Alternatives>
Op MakeOp(size_t index, std::index_sequence<Alternatives...>) {
  using Make = Op (*)();
  constexpr std::array<Make, sizeof...(Alternatives)> makers = {
      [] { return Op(std::in_place_index<Alternatives>); }...};
  return makers[index]();
}

Result<Op> OpByName(const std::string& name) {
  const std::span<const std::string> names = OpNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return MakeOp(i, std::make_index_sequence<std::variant_size_v<Op>>());
  }
  return Failed("unknown op '{}'{}", Printable(name), Hint(name, names));
}

void ReadBias(Reader& reader, Layer& layer) {
  const Json* given = reader.Find("bias");
  bool* wanted = BiasSwitch(layer.op);
  if (given != nullptr && given->is_boolean() && wanted != nullptr) {
    *wanted = reader.fields().Bool("bias");
  } else {
    ReadRule(reader, "bias", layer.bias, {});
  }
}

Result<Layer> LayerFromJson(const Json& json, size_t number) {
  const bool named = json.is_object() && json.contains("name") && json["name"].is_string();
  const std::string path =
      named ? fmt::format("layer '{}'", Printable(json["name"].get_ref<const std::string&>()))
            : fmt::format("layers[{}]", number);
  Reader reader(json, path);
  Layer layer;
  layer.name = reader.fields().String("name");
  const std::string op_name = reader.fields().String("op");
  if (!named || reader.Find("op") == nullptr) TENCH_TRY(reader.fields().Finish());
  layer.op = TENCH_TRY(OpByName(op_name).In(path));
  reader.Known("inputs");
  if (reader.Find("inputs") != nullptr) {
    for (const Json& input : reader.fields().Array("inputs")) {
      if (!input.is_string()) {
        reader.fields().Fail("inputs", "must be a list of layer names");
        break;
      }
      layer.inputs.push_back(input.get<std::string>());
    }
  }
  std::visit([&](auto& alternative) { Visit(reader, alternative); }, layer.op);
  if (HasWeight(layer.op)) ReadRule(reader, "weight", layer.weight, DefaultRule(layer.op, true));
  if (HasBias(layer.op)) ReadBias(reader, layer);
  TENCH_TRY(reader.fields().Finish());
  return layer;
}

}  // namespace

Json GraphToJson(const Graph& graph) {
  Json json = {{"name", graph.name}, {"layers", Json::array()}};
  for (const Layer& layer : graph.layers) json["layers"].push_back(LayerToJson(layer));
  return json;
}

Result<Graph> GraphFromJson(const Json& json) {
  Fields fields(json, "network");
  Graph graph;
  graph.name = fields.String("name");
  const Json& layers = fields.Array("layers");
  TENCH_TRY(fields.Finish());
  if (layers.size() > kMaxLayers) return Failed("network.layers: more than {} layers", kMaxLayers);
  for (const Json& layer : layers)
    graph.layers.push_back(TENCH_TRY(LayerFromJson(layer, graph.layers.size())));
  return graph;
}

Result<Graph> ParseGraph(std::string_view text, std::string_view origin) {
  const Json json = TENCH_TRY(ParseJson(text, origin));
  return GraphFromJson(json).In(origin);
}

Json ParametersToJson(const TypedGraph& graph) {
  Json json = Json::array();
  for (const Parameter& parameter : graph.parameters) {
    json.push_back({{"name", parameter.name},
                    {"shape", parameter.shape},
                    {"fill", FillToJson(parameter.fill)},
                    {"lr_mult", NumberToJson(parameter.lr_mult)},
                    {"decay_mult", NumberToJson(parameter.decay_mult)},
                    {"trained", parameter.trained}});
  }
  return json;
}

std::string Fingerprint(const Graph& graph) {
  const Json layers = GraphToJson(graph)["layers"];
  return Hex64(Hash64(PrintJson(layers)));
}

}  // namespace tench
