// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input tensors of a job: parameters, state and batches. A tensor comes from the raw file that
// the job names for it, otherwise a batch from the job's data and the rest from the generator, so
// every worker starts from the same bits.
// Ownership: references the job and the graph, which must outlive it. Used by one thread.

#include <memory>
#include <optional>
#include <vector>

#include "data/batch_loader.h"
#include "data/data_set.h"
#include "data/file_data.h"
#include "net/graph.h"
#include "protocol/message.h"

namespace tench {

class JobInput {
 public:
  // `graph` is the graph that was built. Fails if the job names a file for an unknown tensor, or if
  // a file has labels, tokens or lengths out of range, or if the job's data cannot be read, is not
  // what its fingerprint says, or does not fit the network.
  static Result<JobInput> Open(const Job& job, const TypedGraph& graph);

  // A parameter, a running statistic or "NAME.momentum".
  Status Fill(const std::string& name, std::span<float> out) const;

  // Fills batch() with the samples of that step; for fixed input, always the first samples.
  // Only real data can fail: a file that is broken or was changed.
  Status MakeBatchOf(int64_t step);
  // Starts the job's loader threads, for so many batches from the first one on. From then on
  // MakeBatchOf waits for the next batch. `this` must not move any more.
  void StartLoader(int64_t first, int64_t batches);
  BatchLoader::Work loaded() const { return loader_ ? loader_->work() : BatchLoader::Work(); }

  std::span<const HostTensor> batch() const { return current_; }

 private:
  JobInput(const Job& job, const TypedGraph& graph) : job_(&job), graph_(&graph) {}
  Status LoadInputs();
  Status OpenData();
  BatchPlan PlanOf() const;
  int64_t FirstOf(int64_t step) const;
  BatchLoader::RowFiller MakeFiller(int64_t first) const;

  const Job* job_;
  const TypedGraph* graph_;
  std::optional<FileData> data_;  // nullopt = synthetic
  std::vector<HostTensor> batch_;
  std::span<const HostTensor> current_;                // batch_, or a batch of the loader
  std::vector<std::pair<size_t, HostTensor>> loaded_;  // position in batch_, tensor
  std::unique_ptr<BatchLoader> loader_;  // the last member, because it reads the others
};

}  // namespace tench
