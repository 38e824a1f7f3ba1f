// SPDX-License-Identifier: Apache-2.0
#pragma once
// The jobs that check a worker's computation, and the tensors that each compares. The reference and
// the worker get the same jobs, except for trials that need no reference. docs/parity.md states the
// trials. Pure: src/run writes the tensors to load and sets the folder of the answers.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/graph.h"
#include "protocol/message.h"

namespace tench {

enum class TrialKind {
  kOps,       // every distinct (op, shape) alone: outputs, gradients, running statistics
  kGradient,  // the network, one step: loss, gradients
  kSteady,    // the conditioned network, one update: logits, gradients, running statistics. The
              // update is recomputed from the worker's own gradient and momentum
  kTrain,    // the conditioned network, three updates, the last one at a tenth of the rate: losses,
             // parameters, running statistics
  kForward,  // the conditioned network, inference: loss, logits
  kOutputs,  // kGradient with every layer's output: locates the first difference
  kDropout,  // dropout enabled, the timed build: masks and scale in both directions
  kTimed,    // the conditioned network in the timed build, or in an observing build of its batch
};
std::string_view Name(TrialKind kind);  // "ops", "gradient", …

// The subject of verification.
struct Subject {
  Job job;            // of the cell, with its threads resolved; the timed trial uses its batch
  int64_t batch = 4;  // of the other trials: batch norm and means need more than one sample
};

// The learning rate of the conditioned network's updates, before the calibration's factors.
inline constexpr double kSteadyRate = 0.001;

// Properties of the conditioned network that only running it can tell. They come from the
// reference's answer to kSteady (calibration.h), so that all workers get the same ones.
struct Calibration {
  // Factors of the learning rate, by "LAYER.weight" or "LAYER.bias", such that an update moves each
  // tensor by about a thousandth of its norm.
  std::map<std::string, double> rate_factors;
  std::map<std::string, double> mean_squares;  // of the input, by batch norm layer
};

struct WantedTensor {
  std::string kind, name;  // "gradients", "conv1.weight": the file is FOLDER/KIND/NAME.bin
  std::string group;       // tensors of one group are of one scale
  int64_t elements = 0;
  int64_t terms = 1;  // how many products an element sums, at least
  // Set: the movement since this parameter's fill is compared. Points into Trial::graph.
  const Parameter* start = nullptr;
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
  // A parameter, running statistic or momentum before the first step.
  std::vector<float> Start(const Parameter& parameter) const;
};

// kTrain and kForward need a calibration; kTimed is made by MakeTimedTrial.
Result<Trial> MakeTrial(const Subject& subject, TrialKind kind,
                        const Calibration& calibration = {});
// Three steps (forward: eight) with the job's own batch, threads, options, solver and phase. With
// `observe` the same in an observing build.
Result<Trial> MakeTimedTrial(const Subject& subject, const Calibration& calibration, bool observe);

// The layers that feed a loss: logits, scores.
std::vector<std::string> LossInputs(const Graph& network);

}  // namespace tench
