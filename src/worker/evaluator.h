// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates the parameters of a training on a test split: a second adapter of the same framework
// holds the inference network in an observing build, and receives parameters and running statistics
// before every evaluation. Loss and accuracy are computed here from the logits, by the same code
// for all frameworks. Not aware of the timed loop or of the target.
//
// The accuracy is that of Caffe's Accuracy layer: a sample is correct in the top k if fewer than k
// other classes have a logit that is not below the label's. A label whose logit is NaN is wrong.
// Ownership: owns the second adapter and the test data. Used by one thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/file_data.h"
#include "protocol/message.h"
#include "worker/adapter.h"

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

class Evaluator {
 public:
  // Builds the network of `job.evaluation`. kUnsupported if the network's loss has another form
  // than one row of logits per sample.
  static Result<Evaluator> Make(const Job& job, std::unique_ptr<Adapter> adapter);

  // One pass over the test split with the parameters of `trained`.
  Result<Evaluation> Run(Adapter& trained, int64_t steps);

 private:
  Evaluator(TypedGraph graph, std::unique_ptr<Adapter> adapter, FileData data, int threads)
      : graph_(std::make_unique<TypedGraph>(std::move(graph))),
        adapter_(std::move(adapter)),
        data_(std::move(data)),
        threads_(threads) {}
  Status FindLogits();
  Status CopyParameters(Adapter& trained);

  std::unique_ptr<TypedGraph> graph_;  // at a fixed address, which adapters may keep
  std::unique_ptr<Adapter> adapter_;
  FileData data_;
  int threads_;
  std::string logits_;  // the layer; "" = the network has no softmax loss
  int64_t classes_ = 0;
  size_t label_ = 0;  // position of the label among the inputs
  std::optional<int64_t> ignored_;
  std::map<std::string, std::vector<float>> values_;  // of parameters and running statistics
  std::vector<HostTensor> batch_;
};

}  // namespace tench
