// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network in tench's framework-independent form: named layers in topological order, each with one
// output of the same name. Graph is the input from a file or the zoo. TypedGraph, made by Infer, is
// the checked graph for one batch size with all shapes and parameters. Both are plain values
// without pointers. Not aware of frameworks.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/op.h"
#include "net/tensor.h"

namespace tench {

// The initial values and the learning-rate multipliers of a layer's weights or bias, as in Caffe.
struct ParameterRule {
  Fill fill;
  double lr_mult = 1;
  double decay_mult = 1;
  bool operator==(const ParameterRule&) const = default;
};

struct Layer {
  std::string name;
  Op op;
  std::vector<std::string> inputs;  // names of earlier layers
  ParameterRule weight;  // for ops with weights (batch norm: the scale; LSTM: both matrices)
  ParameterRule bias;    // for ops with a bias
  bool operator==(const Layer&) const = default;
};

struct Graph {
  std::string name;
  std::vector<Layer> layers;
  bool operator==(const Graph&) const = default;
};

struct Parameter {
  std::string name;  // "conv1.weight", "conv1.bias", "lstm.weight_input", "bn1.running_mean"
  Shape shape;
  Fill fill;  // resolved: kConstant, kUniform or kGaussian
  double lr_mult = 1;
  double decay_mult = 1;
  bool trained = true;  // false for running statistics
  size_t layer = 0;     // index into TypedGraph::layers
};

struct TypedLayer {
  Layer layer;
  std::vector<size_t> inputs;  // indices into TypedGraph::layers
  TensorType output;
  std::vector<size_t> parameters;  // indices into TypedGraph::parameters, in the order of op.h
};

struct TypedGraph {
  std::string name;
  int64_t batch = 0;
  std::vector<TypedLayer> layers;
  std::vector<Parameter> parameters;

  const TensorType& InputType(size_t layer, size_t input) const {
    return layers[layers[layer].inputs[input]].output;
  }
};

// Limits of Infer: far above any real network, low enough that no product of sizes overflows.
inline constexpr size_t kMaxLayers = 100'000;
inline constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;  // of the batch and of op attributes
inline constexpr int64_t kMaxElements = int64_t{1} << 40;    // of one tensor

// Checks the network and infers all shapes. Errors name the network and the layer:
// "lenet: layer 'conv2': …".
Result<TypedGraph> Infer(const Graph& graph, int64_t batch);

// For every layer, whether its output depends on a trained parameter, so that it needs a gradient.
std::vector<bool> NeedsGradient(const TypedGraph& graph);

// The network of the forward phase: without auxiliary losses and the layers that only they need.
Graph InferenceGraph(const Graph& graph);

// A hash, 16 hex digits, of everything that changes the computation or the initial values. The name
// of the network is not part of it.
std::string Fingerprint(const Graph& graph);

}  // namespace tench
