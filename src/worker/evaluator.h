// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates the parameters of a training on a test split: a second adapter of the same framework
// holds the inference network in an observing build, and receives parameters and running statistics
// before every evaluation. TestSplit computes loss and accuracy from its logits. Not aware of the
// timed loop or of the target.
//
// Ownership: owns the second adapter and the test data. Used by one thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/adapter.h"
#include "worker/test_split.h"

namespace tench {

class Evaluator {
 public:
  // Builds the network of `job.evaluation`. kUnsupported as TestSplit::Open.
  static Result<Evaluator> Make(const Job& job, std::unique_ptr<Adapter> adapter);

  // One pass over the test split with the parameters of `trained`.
  Result<Evaluation> Run(Adapter& trained, int64_t steps);

 private:
  Evaluator(TestSplit split, std::unique_ptr<Adapter> adapter)
      : split_(std::move(split)), adapter_(std::move(adapter)) {}
  Status CopyParameters(Adapter& trained);

  TestSplit split_;  // owns the graph, which adapters may keep
  std::unique_ptr<Adapter> adapter_;
  std::map<std::string, std::vector<float>> values_;  // of parameters and running statistics
};

}  // namespace tench
