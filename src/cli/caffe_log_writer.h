// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log of `tench train` in the format of `caffe train`, line for line, so that parsers of
// Caffe's logs can read it. Times cover whole steps with the update; Caffe's line at iteration N
// excludes the update of N. Not aware of files or terminals: `write` decides where a line goes. The
// solver must outlive the writer.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/test_network.h"
#include "net/caffe/solver_file.h"
#include "net/graph.h"
#include "protocol/message.h"

namespace tench {

class CaffeLogWriter {
 public:
  // `write` gets one line at a time, with its prefix and without a newline.
  CaffeLogWriter(const CaffeSolver& solver, const Graph& graph,
                 std::function<void(const std::string&)> write);

  // The facts of the training, which `tench import` reads.
  void Facts(const std::string& worker, const Job& job);
  void Start();
  void Testing(int64_t iteration, size_t test);
  void TestResult(size_t test, const CaffeTestResult& result);
  void Step(int64_t iteration, int64_t step_ns, double loss);
  void Snapshot(const std::string& file);
  void SnapshotState(const std::string& file);
  void Resuming(const std::string& file);
  void Weights(const std::string& file);
  void Done(bool complete);

 private:
  void Line(const char* source, const std::string& text);
  double Smoothed(double loss);

  const CaffeSolver& solver_;
  std::string network_, loss_name_;  // of the only loss; "" if there are several
  double loss_weight_ = 1;
  std::function<void(const std::string&)> write_;
  std::vector<double> recent_;  // losses of the last average_loss iterations
  double smoothed_ = 0;
  int64_t lapse_ns_ = 0, lapse_steps_ = 0;  // since the last line
};

}  // namespace tench
