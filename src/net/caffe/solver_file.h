// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads and writes Caffe's solver.prototxt: update rule, learning-rate schedule, number of
// iterations, display, tests and snapshots.
//
// An unknown type or policy is an error that names the field.
// Invariants: reading a written solver gives the same solver, including fields that its type or
// policy does not use.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axis/learning_rate.h"
#include "base/error.h"
#include "net/caffe/prototxt.h"
#include "net/solver.h"

namespace tench {

// One of the networks that are tested during the training.
struct CaffeTest {
  std::string net;  // its file as written in the solver; "" = that of the training
  CaffeState state;
  int64_t iterations = 0;  // batches per test
};

struct CaffeSolver {
  std::string net;  // the network's file as written in the solver; "" = the network is inline
  std::optional<CaffeNetwork> network;  // the inline network
  CaffeState state;                     // selects the layers to train
  Solver solver;                        // lr equals rate.base
  LearningRate rate;
  int64_t max_iterations = 0;
  int64_t display = 0;       // iterations between log lines; 0 = none
  int64_t average_loss = 1;  // iterations that a logged loss averages
  int64_t snapshot = 0;      // iterations between snapshots; 0 = only at the end
  std::string snapshot_prefix;
  bool snapshot_after_train = true;
  std::optional<int64_t> random_seed;
  std::vector<std::string> weights;  // .caffemodel files with initial weights
  std::vector<CaffeTest> tests;
  int64_t test_interval = 0;        // iterations between tests; 0 = none
  bool test_initialization = true;  // also test before the first iteration
  std::vector<std::string> notes;
};

// `origin` is the file name. As in Caffe, the default snapshot_prefix is `origin` without its
// extension.
Result<CaffeSolver> ReadSolver(std::string_view text, const std::string& origin);
Result<CaffeSolver> ReadSolverFile(const std::string& path);

// The inline network, or the network of the named file. A relative path is resolved against the
// working directory, as in Caffe, and then against the folder of the solver file.
Result<CaffeNetwork> NetworkOf(const CaffeSolver& solver, const std::string& solver_path);
// A file that the solver names, resolved in the same way.
std::string ResolveCaffePath(const std::string& named, const std::string& solver_path);
// The file that NetworkOf reads; "" if the network is inline.
std::string NetworkPath(const CaffeSolver& solver, const std::string& solver_path);

// For `caffe train` on the CPU. An inline network is not written.
std::string WriteSolver(const CaffeSolver& solver);

}  // namespace tench
