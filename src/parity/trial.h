// SPDX-License-Identifier: Apache-2.0
#pragma once
// The jobs that check a worker's computation, and the tensors that each compares. The reference and
// the worker get the same jobs. Pure: src/run writes the tensors to load and sets the folder of the
// answers.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/graph.h"
#include "parity/op_probe.h"
#include "protocol/message.h"

namespace tench {

enum class TrialKind {
  kOps,       // every distinct (op, shape) alone: outputs, gradients, running statistics
  kGradient,  // the whole network, one step: loss, gradients
  kTrain,  // five updates, the learning rate a tenth after the second: losses, parameters, running
           // statistics
  kForward,  // one step of inference: loss
  kOutputs,  // kGradient with every layer's output: locates the first difference
  kDropout,  // dropout enabled: the fraction of zeros and the scale of the others
};
std::string_view Name(TrialKind kind);  // "ops", "gradient", …

// What is checked.
struct Subject {
  Graph network;
  int64_t batch =
      4;  // batch norm and means over the batch need more than one sample to go wrong visibly
  int64_t threads = 1;
  std::string device = "cpu", precision = "f32";
  std::map<std::string, std::string> options;
  bool tuned = false;
};

struct WantedTensor {
  std::string kind, name;  // "gradients", "conv1.weight": the file is FOLDER/KIND/NAME.bin
  std::string group;       // tensors of one group are of one scale
  int64_t elements = 0;
  int64_t terms = 1;                 // how many numbers one of its elements is a sum of, at least
  const Parameter* start = nullptr;  // set: looked at as the movement since this parameter's fill.
                                     // Points into Trial::graph
  std::string key() const { return kind + "/" + name; }
};

struct Trial {
  TrialKind kind = TrialKind::kGradient;
  Job job;                                               // without folder and loads
  TypedGraph graph;                                      // of job.network as the worker sees it
  std::map<std::string, std::vector<float>> reals;       // to load
  std::map<std::string, std::vector<int32_t>> integers;  // to load
  std::map<std::string, std::string> branch_of;          // kOps: layer -> op

  std::vector<WantedTensor> Wanted() const;  // in the order of computation
};

Result<Trial> MakeTrial(const Subject& subject, TrialKind kind);
// The distinct ratios of the network's dropout layers; kDropout exists only where there are any.
std::vector<double> DropoutRatios(const Graph& network);

}  // namespace tench
