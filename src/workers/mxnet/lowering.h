// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers a network to MXNet symbols. Differences of convention (pooling that rounds up, time-major
// sequences, a flat vector of LSTM weights, biased running variances) are resolved here, and
// ParameterPlace describes the conversion of each parameter. Losses are heads of the graph with
// MXNet's own gradient; their values are scalars with the loss weight applied.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "worker/adapter.h"
#include "workers/mxnet/symbol.h"

namespace tench::mxnet {

// The storage of a parameter: a variable of MXNet's graph, or a range of one.
struct ParameterPlace {
  std::string variable;
  int64_t offset = 0;  // in elements, when it is a part of a flat variable
  bool part = false;
  double scale = 1;  // the factor from MXNet's value to tench's
};

struct Lowered {
  // Grouped: first the losses' values, then the heads of the backward pass, then observed outputs.
  Symbol heads = nullptr;
  std::vector<std::string> losses;         // layers, in the order of the heads
  std::map<std::string, size_t> observed;  // layer -> head
  std::map<std::string, Shape> variables;  // every variable's shape
  std::set<std::string> trained;           // those that need a gradient
  std::vector<ParameterPlace> parameters;  // by parameter of the network
};

class Lowering {
 public:
  // The caller owns all three; they must outlive this object.
  Lowering(const TypedGraph& graph, const BuildOptions& options, SymbolMaker& maker)
      : graph_(graph), options_(options), maker_(maker), values_(graph.layers.size()) {}

  Result<Lowered> Run();

 private:
  // A sequence can exist in both orders, (N, T, F) and (T, N, F); the other order is created on
  // demand.
  struct Value {
    Symbol batch_major = nullptr, time_major = nullptr;
  };
  enum class TimeOrder { kBatchMajor, kTimeMajor };

  Status Lower(size_t i);
  Result<Symbol> Lower(size_t i, const Convolution& op);
  Result<Symbol> Lower(size_t i, const Pooling& op);
  Result<Symbol> Lower(size_t i, const Lrn& op);
  Result<Symbol> Lower(size_t i, const FullyConnected& op);
  Result<Symbol> Lower(size_t i, const Dropout& op);
  Result<Symbol> Lower(size_t i, const Concat& op);
  Result<Symbol> Lower(size_t i, const Slice& op);
  Result<Symbol> Lower(size_t i, const Add& op);
  Result<Symbol> Lower(size_t i, const Multiply& op);
  Result<Symbol> Lower(size_t i, const Maximum& op);
  Result<Symbol> Lower(size_t i, const Reshape& op);
  Result<Symbol> Lower(size_t i, const Power& op);
  Result<Symbol> Lower(size_t i, const Scale& op);
  Result<Symbol> Lower(size_t i, const Softmax& op);
  Result<Symbol> Lower(size_t i, const BatchNorm& op);
  Result<Symbol> Lower(size_t i, const MeanOverTime& op);
  Result<Symbol> Activation(size_t i, const char* kind);
  Result<Symbol> LeakyRelu(size_t i, const Relu& op);
  Result<Symbol> LrnWithin(size_t i, const Lrn& op);
  // Reduces the inputs by a binary op, from the first on.
  Result<Symbol> Chain(size_t i, const char* op);
  // An op with a symbol and a scalar.
  Result<Symbol> WithNumber(size_t i, const char* op, Symbol in, double number,
                            const std::string& suffix);
  Result<std::vector<Symbol>> Ins(size_t i);
  Status LowerEmbedding(size_t i, const Embedding& op);
  Status LowerLstm(size_t i, const Lstm& op);

  // Returns the weighted value, and in the phases with gradients adds a head that starts the
  // backward pass.
  Result<Symbol> Lower(size_t i, const SoftmaxCrossEntropy& op);
  Result<Symbol> LowerIgnoring(size_t i, const SoftmaxCrossEntropy& op);
  Result<Symbol> Lower(size_t i, const SigmoidCrossEntropy& op);
  Result<Symbol> Lower(size_t i, const MeanSquaredError& op);
  Result<Symbol> Scaled(const std::string& name, Symbol values, double factor);
  // Blocks the gradient.
  Result<Symbol> Constant(const std::string& name, Symbol symbol);

  // The layer's input, and its parameter as a variable.
  Result<Symbol> In(size_t i, size_t input = 0);
  Result<Symbol> Ordered(size_t layer, TimeOrder order);
  Result<Symbol> Variable(const std::string& name, const Shape& shape, bool trained);
  Result<Symbol> Weight(size_t i, size_t number);
  Result<Symbol> Apply(size_t i, const char* op, const Attributes& attributes,
                       std::vector<Symbol> inputs, const std::string& suffix = "");
  Result<Symbol> Heads();

  const std::string& NameOf(size_t i) const { return graph_.layers[i].layer.name; }
  bool training() const { return options_.phase != Phase::kForward; }

  const TypedGraph& graph_;
  const BuildOptions& options_;
  SymbolMaker& maker_;
  std::vector<Value> values_;  // by layer
  std::vector<Symbol> loss_values_, gradient_heads_;
  Lowered lowered_;
};

}  // namespace tench::mxnet
