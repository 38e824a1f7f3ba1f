// SPDX-License-Identifier: Apache-2.0
#pragma once
// What goes into a worker before and between its steps: parameters, state and batches. Each tensor
// comes from the raw file that the job names for it, or else from the generator; so every worker
// starts from the same bits. Keeps references to the job and the graph.

#include <vector>

#include "data/data_set.h"
#include "net/graph.h"
#include "protocol/message.h"

namespace tench {

class JobInput {
 public:
  // `graph` is the one that was built. Fails if a file is named for a tensor that the job's network
  // does not have, or holds labels, tokens or lengths out of range.
  static Result<JobInput> Open(const Job& job, const TypedGraph& graph);

  // A parameter, a running statistic or "NAME.momentum".
  Status Fill(const std::string& name, std::span<float> out) const;

  // Fills batch() with the samples of that step: always the first ones when input is fixed.
  void MakeBatchOf(int64_t step);
  std::span<const HostTensor> batch() const { return batch_; }

 private:
  JobInput(const Job& job, const TypedGraph& graph) : job_(&job), graph_(&graph) {}
  Status LoadInputs();

  const Job* job_;
  const TypedGraph* graph_;
  std::vector<HostTensor> batch_;
  std::vector<std::pair<size_t, HostTensor>> loaded_;  // position in batch_, tensor
};

}  // namespace tench
