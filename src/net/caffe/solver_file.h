// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caffe's solver.prototxt: how a network learns, how long, and what is told and kept on the way.
// Reading refuses what would be another computation here (an unknown type, L1, iter_size) by name,
// and notes what is left out (testing). Writing gives what Caffe's `train` takes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/learning_rate.h"
#include "net/caffe/prototxt.h"
#include "net/solver.h"

namespace tench {

struct CaffeSolver {
  std::string net;  // the network's file, as the solver names it; "" = the solver holds the network
  std::optional<CaffeNetwork> network;  // that network
  CaffeState state;                     // of the network to train
  Solver solver;                        // lr is the rate's base
  LearningRate rate;
  int64_t max_iterations = 0;
  int64_t display = 0;       // 0 = nothing is told
  int64_t average_loss = 1;  // iterations that a told loss is the mean of
  int64_t snapshot = 0;      // 0 = only at the end
  std::string snapshot_prefix;
  bool snapshot_after_train = true;
  std::optional<int64_t> random_seed;
  std::vector<std::string> weights;  // files of weights to begin with
  std::vector<std::string> notes;
};

// `origin` is the file's name; a missing snapshot_prefix becomes that without its ending, as in
// Caffe.
Result<CaffeSolver> ReadSolver(std::string_view text, const std::string& origin);
Result<CaffeSolver> ReadSolverFile(const std::string& path);

// The solver's network, read: what it holds, or the file that it names, looked for as Caffe does
// (from the working folder) and then beside the solver's own file.
Result<CaffeNetwork> NetworkOf(const CaffeSolver& solver, const std::string& solver_path);
// The path of the file that NetworkOf reads; "" where the solver holds the network.
std::string NetworkPath(const CaffeSolver& solver, const std::string& solver_path);

// For `caffe train` on the CPU.
std::string WriteSolver(const CaffeSolver& solver);

}  // namespace tench
