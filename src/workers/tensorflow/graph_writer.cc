// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/graph_writer.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "worker/framework_error.h"

namespace tench::tensorflow {
namespace {

// TensorFlow's names: letters, digits and _ . - / with a letter, digit or dot first.
std::string Fit(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::strchr("_.-/", c) == nullptr) c = '_';
  }
  return name;
}

}  // namespace

TensorHandle AllocateTensor(const CApi& api, TF_DataType type, const Dims& dims) {
  size_t bytes = sizeof(float);
  for (const int64_t size : dims) bytes *= static_cast<size_t>(size);
  return {api.AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), bytes),
          api.DeleteTensor};
}

Status StatusOf(const CApi& api, const TF_Status* status) {
  const TF_Code code = api.GetCode(status);
  if (code == TF_OK) return Ok();
  Error error = ErrorOf(api.Message(status)).In("TensorFlow");
  if (code == TF_RESOURCE_EXHAUSTED) error.kind = ErrorKind::kOutOfMemory;
  if (code == TF_UNIMPLEMENTED) error.kind = ErrorKind::kUnsupported;
  return error;
}

NodeDraft::NodeDraft(GraphWriter& writer, const char* type, std::string_view label)
    : writer_(writer) {
  if (writer_.error_) return;
  const std::string name = writer_.UniqueName(label.empty() ? type : label);
  draft_ = writer_.api_.NewOperation(writer_.graph(), type, name.c_str());
  if (!writer_.device_.empty()) writer_.api_.SetDevice(draft_, writer_.device_.c_str());
}

// An error among a node's inputs leaves it unwritten.
bool NodeDraft::open() const { return draft_ != nullptr && !writer_.error_; }

NodeDraft& NodeDraft::In(TF_Output input) {
  if (open()) writer_.api_.AddInput(draft_, input);
  return *this;
}
NodeDraft& NodeDraft::InList(std::span<const TF_Output> inputs) {
  if (open()) writer_.api_.AddInputList(draft_, inputs.data(), static_cast<int>(inputs.size()));
  return *this;
}
NodeDraft& NodeDraft::After(TF_Operation* operation) {
  if (open()) writer_.api_.AddControlInput(draft_, operation);
  return *this;
}
NodeDraft& NodeDraft::Type(const char* name, TF_DataType value) {
  if (open()) writer_.api_.SetAttrType(draft_, name, value);
  return *this;
}
NodeDraft& NodeDraft::Int(const char* name, int64_t value) {
  if (open()) writer_.api_.SetAttrInt(draft_, name, value);
  return *this;
}
NodeDraft& NodeDraft::Ints(const char* name, const Dims& values) {
  if (open())
    writer_.api_.SetAttrIntList(draft_, name, values.data(), static_cast<int>(values.size()));
  return *this;
}
NodeDraft& NodeDraft::Float(const char* name, double value) {
  if (open()) writer_.api_.SetAttrFloat(draft_, name, static_cast<float>(value));
  return *this;
}
NodeDraft& NodeDraft::Bool(const char* name, bool value) {
  if (open()) writer_.api_.SetAttrBool(draft_, name, value ? 1 : 0);
  return *this;
}
NodeDraft& NodeDraft::Text(const char* name, std::string_view value) {
  if (open()) writer_.api_.SetAttrString(draft_, name, value.data(), value.size());
  return *this;
}
NodeDraft& NodeDraft::Shape(const char* name, const Dims& value) {
  if (open()) writer_.api_.SetAttrShape(draft_, name, value.data(), static_cast<int>(value.size()));
  return *this;
}
NodeDraft& NodeDraft::Tensor(const char* name, TF_Tensor* value) {
  if (!open()) return *this;
  writer_.api_.SetAttrTensor(draft_, name, value, writer_.scratch_.get());
  writer_.Note(writer_.scratch_.get(), name);
  return *this;
}

TF_Operation* NodeDraft::Node() {
  if (!open()) return nullptr;
  TF_Operation* node = writer_.api_.FinishOperation(draft_, writer_.scratch_.get());
  draft_ = nullptr;
  writer_.Note(writer_.scratch_.get(), writer_.scope_);
  return node;
}

GraphWriter::GraphWriter(const CApi& api, std::string device)
    : api_(api),
      graph_(api.NewGraph(), api.DeleteGraph),
      scratch_(api.NewStatus(), api.DeleteStatus),
      device_(std::move(device)) {}

Status GraphWriter::status() const {
  if (!error_) return Ok();
  return *error_;
}

void GraphWriter::SetScope(std::string_view scope) { scope_ = Fit(scope); }

std::string GraphWriter::UniqueName(std::string_view label) {
  const std::string name = scope_.empty() ? Fit(label) : scope_ + "/" + Fit(label);
  const int used = names_[name]++;
  return used == 0 ? name : UniqueName(fmt::format("{}_{}", label, used));
}

void GraphWriter::Note(const TF_Status* status, std::string_view what) {
  if (api_.GetCode(status) == TF_OK || error_) return;
  error_ = StatusOf(api_, status).In(what).error();
}

TF_Output GraphWriter::ConstantOf(TF_DataType type, const void* values, size_t bytes,
                                  const Dims& dims) {
  const TensorHandle tensor = AllocateTensor(api_, type, dims);
  Check(tensor != nullptr && api_.TensorByteSize(tensor.get()) == bytes,
        "a constant of another size than its shape");
  if (bytes > 0) std::memcpy(api_.TensorData(tensor.get()), values, bytes);
  return Add("Const").Type("dtype", type).Tensor("value", tensor.get()).Output();
}

TF_Output GraphWriter::Constant(std::span<const float> values, const Dims& dims) {
  return ConstantOf(TF_FLOAT, values.data(), values.size_bytes(), dims);
}
TF_Output GraphWriter::Constant(std::span<const int32_t> values, const Dims& dims) {
  return ConstantOf(TF_INT32, values.data(), values.size_bytes(), dims);
}
TF_Output GraphWriter::Integers(const Dims& values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Constant(std::span<const int32_t>(narrow), {static_cast<int64_t>(narrow.size())});
}

std::vector<TF_Output> GraphWriter::Gradients(TF_Output y, const TF_Output* dy,
                                              std::span<const TF_Output> xs) {
  std::vector<TF_Output> gradients(xs.size(), TF_Output{nullptr, 0});
  if (error_ || xs.empty()) return gradients;
  const std::string prefix = UniqueName("gradient");
  std::vector<TF_Output> mutable_xs(xs.begin(), xs.end());
  TF_Output gradient_of_y = dy != nullptr ? *dy : TF_Output{nullptr, 0};
  api_.AddGradientsWithPrefix(graph(), prefix.c_str(), &y, 1, mutable_xs.data(),
                              static_cast<int>(xs.size()), dy != nullptr ? &gradient_of_y : nullptr,
                              scratch_.get(), gradients.data());
  Note(scratch_.get(), scope_);
  for (const TF_Output& gradient : gradients) {
    if (!error_ && gradient.oper == nullptr)
      error_ = Failed("{}: TensorFlow gave no gradient", scope_);
  }
  return gradients;
}

std::set<const TF_Operation*> GraphWriter::Needed(std::span<TF_Operation* const> targets) const {
  std::set<const TF_Operation*> needed;
  std::vector<TF_Operation*> open(targets.begin(), targets.end());
  while (!open.empty()) {
    TF_Operation* node = open.back();
    open.pop_back();
    if (!needed.insert(node).second) continue;
    for (int i = 0; i < api_.OperationNumInputs(node); ++i)
      open.push_back(api_.OperationInput({node, i}).oper);
    std::vector<TF_Operation*> controls(static_cast<size_t>(api_.OperationNumControlInputs(node)));
    api_.OperationGetControlInputs(node, controls.data(), static_cast<int>(controls.size()));
    open.insert(open.end(), controls.begin(), controls.end());
  }
  return needed;
}

std::vector<TF_Operation*> GraphWriter::Consumers(TF_Output output) const {
  std::vector<TF_Input> inputs(static_cast<size_t>(api_.OperationOutputNumConsumers(output)));
  api_.OperationOutputConsumers(output, inputs.data(), static_cast<int>(inputs.size()));
  std::vector<TF_Operation*> consumers;
  for (const TF_Input& input : inputs) consumers.push_back(input.oper);
  return consumers;
}

}  // namespace tench::tensorflow
