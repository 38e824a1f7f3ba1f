// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input tensors of a job: parameters, state and batches. A tensor comes from the raw file that
// the job names for it, otherwise from the generator, so every worker starts from the same bits.
// Ownership: references the job and the graph, which must outlive it. Used by one thread.

#include <vector>

#include "data/data_set.h"
#include "net/graph.h"
#include "protocol/message.h"

namespace tench {

class JobInput {
 public:
  // `graph` is the graph that was built. Fails if the job names a file for an unknown tensor, or if
  // a file has labels, tokens or lengths out of range.
  static Result<JobInput> Open(const Job& job, const TypedGraph& graph);

  // A parameter, a running statistic or "NAME.momentum".
  Status Fill(const std::string& name, std::span<float> out) const;

  // Fills batch() with the samples of that step; for fixed input, always the first samples.
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
