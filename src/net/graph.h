// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network in tench's neutral form: layers in the order of computation, each named, each with one
// output of its own name. Graph is what a person or a file says; TypedGraph (made by Infer) is the
// same after checking, at one batch size, with every shape and parameter worked out. Both are plain
// values without pointers into each other. Not aware of frameworks.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/op.h"
#include "net/tensor.h"

namespace tench {

// How a layer's weights (or its bias) begin and how fast they learn, as in Caffe.
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
  ParameterRule weight;  // of ops that have weights (batch norm: the scale; LSTM: both matrices)
  ParameterRule bias;    // of ops that have a bias
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
  Fill fill;  // resolved: only kConstant, kUniform or kGaussian, with numbers
  double lr_mult = 1;
  double decay_mult = 1;
  bool trained = true;  // false: running statistics, which belong to the state
  size_t layer = 0;     // index into TypedGraph::layers
};

struct TypedLayer {
  Layer layer;
  std::vector<size_t> inputs;  // indices into TypedGraph::layers
  TensorType output;
  std::vector<size_t> parameters;  // indices into TypedGraph::parameters, in the order that the
                                   // op's comment lists them
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

// What Infer refuses to go beyond: far above any real network, low enough that no product of sizes
// overflows unnoticed.
inline constexpr size_t kMaxLayers = 100'000;
inline constexpr int64_t kMaxSize =
    (int64_t{1} << 31) - 1;  // of the batch and of every number that an op is given
inline constexpr int64_t kMaxElements = int64_t{1} << 40;  // of one tensor

// Checks the network and works out shapes. Errors name the network and the layer: "lenet: layer
// 'conv2': …".
Result<TypedGraph> Infer(const Graph& graph, int64_t batch);

// For every layer, whether its output depends on a trained parameter: only through such layers does
// a gradient flow.
std::vector<bool> NeedsGradient(const TypedGraph& graph);

// The network of the forward phase: auxiliary losses and all that only they need are gone.
Graph InferenceGraph(const Graph& graph);

// 16 hex digits over everything that changes the computation or its start (not over the network's
// name).
std::string Fingerprint(const Graph& graph);

}  // namespace tench
