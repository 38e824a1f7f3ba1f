// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads and writes Caffe's .solverstate: the iteration, the file with the weights, and the solver's
// history, one blob per learnable blob of the network in the order of its layers. Adam and AdaDelta
// have a second list after the first. A BatchNorm layer contributes its three statistics, whose
// history is zero.
//
// Thread safety: pure, except for reading and writing files.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/blob_place.h"
#include "net/graph.h"
#include "net/solver.h"

namespace tench {

struct CaffeSolverState {
  int64_t iteration = 0;
  std::string learned_net;   // the .caffemodel of the same iteration
  int64_t current_step = 0;  // the steps of the learning-rate policy so far
  struct Blob {
    Shape shape;
    std::vector<float> values;  // as many as the shape has elements
  };
  std::vector<Blob> history;
};

Result<CaffeSolverState> ParseSolverState(std::string_view bytes);
Result<CaffeSolverState> ReadSolverState(const std::filesystem::path& path);

// Calls `sink` with "NAME.momentum", and "NAME.momentum2" if the solver has it, for every trained
// parameter that Caffe has.
using HistorySink = std::function<Status(const std::string& name, std::span<const float> values)>;
Status LoadHistory(const CaffeSolverState& state, const TypedGraph& graph, const CaffeNames& names,
                   SolverType type, const HistorySink& sink);

// Asks `source` for the same names. `state.history` is ignored. Atomic: writes a temporary file and
// renames it.
using HistorySource = std::function<Status(const std::string& name, std::span<float> out)>;
Status WriteSolverState(const std::filesystem::path& path, const CaffeSolverState& state,
                        const TypedGraph& graph, const CaffeNames& names, SolverType type,
                        const HistorySource& source);

}  // namespace tench
