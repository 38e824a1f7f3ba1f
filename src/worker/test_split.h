// SPDX-License-Identifier: Apache-2.0
#pragma once
// The test split of a job's evaluation: its batches in the inference network, and the scores of
// the logits that a framework computes from them. C++ workers and tench-batches, which serves
// workers in Python, share it, so that all frameworks have one definition of loss and accuracy. Not
// aware of adapters or of the steps between two evaluations.
//
// The accuracy is that of Caffe's Accuracy layer: a sample is correct in the top k if fewer than k
// other classes have a logit that is not below the label's. A label whose logit is NaN is wrong.
// Ownership: owns the data and the graph. Used by one thread; the job's threads decode.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/file_data.h"
#include "protocol/message.h"

namespace tench {

// Sums over samples.
struct ClassScore {
  int64_t counted = 0;  // without those whose label the loss ignores
  int64_t top1 = 0, top5 = 0;
  double loss = 0;  // cross-entropy
};
// Adds the first `samples` rows of `logits`, which has one row of `classes` values per label.
void AddScores(std::span<const float> logits, int64_t classes, std::span<const int32_t> labels,
               int64_t samples, std::optional<int64_t> ignored, ClassScore& score);

class TestSplit {
 public:
  // kUnsupported if the network's loss has another form than one row of logits per sample.
  static Result<TestSplit> Open(const Job& job);

  const TypedGraph& graph() const { return *graph_; }    // at a fixed address
  const std::string& logits() const { return logits_; }  // the layer; "" = no softmax loss
  int64_t logit_count() const { return graph_->batch * classes_; }
  int64_t batches() const;

  // Forgets the scores. Reads batch `index`, in order; the last one is completed with samples that
  // do not count.
  void Begin();
  Result<std::span<const HostTensor>> Read(int64_t index);
  // The network's loss on the batch that was read last, and its logits (none without softmax loss).
  Status Add(double loss, std::span<const float> logits);
  // All batches since Begin. `step` and `eval_ns` are left to the caller.
  Evaluation Scores() const;

 private:
  TestSplit(TypedGraph graph, FileData data, int threads)
      : graph_(std::make_unique<TypedGraph>(std::move(graph))),
        data_(std::move(data)),
        threads_(threads) {}
  Status FindLogits();

  std::unique_ptr<TypedGraph> graph_;
  FileData data_;
  int threads_;
  std::string logits_;
  int64_t classes_ = 0;
  size_t label_ = 0;  // position of the label among the inputs
  std::optional<int64_t> ignored_;
  std::vector<HostTensor> batch_;
  int64_t first_ = 0, scored_batches_ = 0;
  double batch_losses_ = 0;
  ClassScore score_;
};

}  // namespace tench
