// SPDX-License-Identifier: Apache-2.0
#include "worker/test_split.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench {

void AddScores(std::span<const float> logits, int64_t classes, std::span<const int32_t> labels,
               int64_t samples, std::optional<int64_t> ignored, ClassScore& score) {
  for (int64_t sample = 0; sample < samples; ++sample) {
    const int64_t label = labels[static_cast<size_t>(sample)];
    if (label == ignored) continue;
    const std::span<const float> row =
        logits.subspan(static_cast<size_t>(sample * classes), static_cast<size_t>(classes));
    const double own = row[static_cast<size_t>(label)];
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    int64_t not_below = 0;
    for (const float logit : row) {
      sum += std::exp(double{logit} - largest);
      not_below += logit >= own;
    }
    ++score.counted;
    score.loss += largest + std::log(sum) - own;
    if (std::isnan(own)) continue;
    score.top1 += not_below <= 1;  // the label itself is not below
    score.top5 += not_below <= 5;
  }
}

Result<TestSplit> TestSplit::Open(const Job& job) {
  TypedGraph graph = TENCH_TRY(Infer(InferenceGraph(job.network), job.batch));
  FileData data = TENCH_TRY(FileData::Open(job.evaluation.data));
  TENCH_TRY(data.CheckFingerprint());
  TENCH_TRY(data.Fit(graph));
  data.Start(job.seed, 0, false);
  TestSplit split(std::move(graph), std::move(data), static_cast<int>(job.threads));
  TENCH_TRY(split.FindLogits());
  return split;
}

Status TestSplit::FindLogits() {
  for (size_t i = 0; i < graph_->layers.size(); ++i) {
    const TypedLayer& layer = graph_->layers[i];
    const auto* loss = std::get_if<SoftmaxCrossEntropy>(&layer.layer.op);
    if (loss == nullptr) continue;
    const Shape& shape = graph_->InputType(i, 0).shape;
    if (shape.size() != 2)
      return Unsupported("evaluation: the loss layer '{}' has logits of the shape {}",
                         layer.layer.name, ToString(shape));
    logits_ = graph_->layers[layer.inputs[0]].layer.name;
    classes_ = shape[1];
    ignored_ = loss->ignore_label;
    label_ = 0;
    for (size_t input = 0; input < layer.inputs[1]; ++input)
      label_ += std::holds_alternative<Input>(graph_->layers[input].layer.op);
  }
  return Ok();
}

int64_t TestSplit::batches() const { return (data_.count() + graph_->batch - 1) / graph_->batch; }

void TestSplit::Begin() {
  score_ = {};
  batch_losses_ = 0;
  scored_batches_ = 0;
}

Result<std::span<const HostTensor>> TestSplit::Read(int64_t index) {
  first_ = index * graph_->batch;
  TENCH_TRY(data_.MakeBatch(*graph_, first_, batch_, threads_));
  return std::span<const HostTensor>(batch_);
}

Status TestSplit::Add(double loss, std::span<const float> logits) {
  batch_losses_ += loss;
  ++scored_batches_;
  if (logits_.empty()) return Ok();
  if (static_cast<int64_t>(logits.size()) != logit_count())
    return Failed("the output of '{}' has {} values", logits_, logits.size());
  const int64_t samples = std::min(graph_->batch, data_.count() - first_);
  AddScores(logits, classes_, batch_[label_].i32, samples, ignored_, score_);
  return Ok();
}

Evaluation TestSplit::Scores() const {
  Evaluation evaluation;
  evaluation.samples = data_.count();
  if (logits_.empty()) {
    evaluation.loss = batch_losses_ / static_cast<double>(scored_batches_);
    return evaluation;
  }
  const auto counted = static_cast<double>(std::max<int64_t>(score_.counted, 1));
  evaluation.loss = score_.loss / counted;
  evaluation.top1 = static_cast<double>(score_.top1) / counted;
  if (classes_ > 5) evaluation.top5 = static_cast<double>(score_.top5) / counted;
  return evaluation;
}

}  // namespace tench
