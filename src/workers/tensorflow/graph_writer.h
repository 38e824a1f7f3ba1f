// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes nodes into one TF_Graph, which it owns. The first error is sticky: later calls write
// nothing, and status() returns it, so that a lowering reads as a list of nodes. Names are
// SCOPE/LABEL with a suffix that makes them unique; the profile maps nodes to layers by name. Not
// aware of networks. Used by one thread.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "workers/tensorflow/c_api.h"

namespace tench::tensorflow {

class GraphWriter;

using TensorHandle = Owned<TF_Tensor>;
using Dims = std::vector<int64_t>;

// Null without memory.
TensorHandle AllocateTensor(const CApi& api, TF_DataType type, const Dims& dims);
// A TF_Status as a Status: RESOURCE_EXHAUSTED is kOutOfMemory, UNIMPLEMENTED kUnsupported.
Status StatusOf(const CApi& api, const TF_Status* status);

// One node, written when Node() or Output() is called.
class NodeDraft {
 public:
  NodeDraft(GraphWriter& writer, const char* type, std::string_view label);
  NodeDraft& In(TF_Output input);
  NodeDraft& InList(std::span<const TF_Output> inputs);
  NodeDraft& After(TF_Operation* operation);
  NodeDraft& Type(const char* name, TF_DataType value);
  NodeDraft& Int(const char* name, int64_t value);
  NodeDraft& Ints(const char* name, const Dims& values);
  NodeDraft& Float(const char* name, double value);
  NodeDraft& Bool(const char* name, bool value);
  NodeDraft& Text(const char* name, std::string_view value);
  NodeDraft& Shape(const char* name, const Dims& value);
  NodeDraft& Tensor(const char* name, TF_Tensor* value);

  TF_Operation* Node();
  TF_Output Output(int index = 0) { return {Node(), index}; }

 private:
  bool open() const;
  GraphWriter& writer_;
  // Null after the node is written, or after an error.
  TF_OperationDescription* draft_ = nullptr;
};

class GraphWriter {
 public:
  // `device`: "" or a name such as "/device:GPU:0" that every node gets.
  GraphWriter(const CApi& api, std::string device);

  const CApi& api() const { return api_; }
  TF_Graph* graph() const { return graph_.get(); }
  Status status() const;

  // The name prefix of later nodes. Characters that TensorFlow refuses become '_'.
  void SetScope(std::string_view scope);
  const std::string& scope() const { return scope_; }
  NodeDraft Add(const char* type, std::string_view label = "") {
    return NodeDraft(*this, type, label);
  }

  TF_Output Constant(std::span<const float> values, const Dims& dims);
  TF_Output Constant(std::span<const int32_t> values, const Dims& dims);
  TF_Output Scalar(float value) { return Constant(std::span<const float>(&value, 1), {}); }
  TF_Output Scalar(int32_t value) { return Constant(std::span<const int32_t>(&value, 1), {}); }
  TF_Output Integers(const Dims& values);  // a vector of int32: shapes, axes, permutations

  // TF_AddGradients: the gradients of `y` with respect to `xs`, given `dy` (null: ones).
  std::vector<TF_Output> Gradients(TF_Output y, const TF_Output* dy, std::span<const TF_Output> xs);

  TF_Output Gradient(TF_Output y, TF_Output dy, TF_Output x) {
    return Gradients(y, &dy, {&x, 1})[0];
  }

  // All nodes that `targets` need.
  std::set<const TF_Operation*> Needed(std::span<TF_Operation* const> targets) const;
  // The nodes that read `output`.
  std::vector<TF_Operation*> Consumers(TF_Output output) const;

 private:
  friend class NodeDraft;
  std::string UniqueName(std::string_view label);
  void Note(const TF_Status* status, std::string_view what);
  TF_Output ConstantOf(TF_DataType type, const void* values, size_t bytes, const Dims& dims);

  const CApi& api_;
  Owned<TF_Graph> graph_;
  Owned<TF_Status> scratch_;
  std::string device_, scope_;
  std::map<std::string, int> names_;
  std::optional<Error> error_;
};

}  // namespace tench::tensorflow
