// SPDX-License-Identifier: Apache-2.0
#pragma once
// The test networks of a solver (test_iter, test_net): forward passes over a number of batches with
// the weights of the training, whose loss and Accuracy layers are averaged, as Caffe does. Every
// test begins at the first sample. Not aware of the training.

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "cli/caffe_data.h"
#include "cli/forward_pass.h"
#include "net/caffe/solver_file.h"

namespace tench {

struct CaffeTestNet {
  CaffeJob job;
  int64_t batches = 0;  // test_iter
};

struct CaffeTestResult {
  std::vector<std::pair<std::string, double>> accuracies;  // by the name of their layer's output
  double loss = 0;
};

// `synthetic`: as for the training.
Result<std::vector<CaffeTestNet>> OpenCaffeTests(const CaffeSolver& solver,
                                                 const std::string& solver_path, bool synthetic);

// `base` has the worker and its settings; the test sets the network, the data and the batches.
Result<CaffeTestResult> RunCaffeTest(const CaffeTestNet& test, ForwardPass base, StopToken stop);

}  // namespace tench
