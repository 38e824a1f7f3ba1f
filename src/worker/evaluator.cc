// SPDX-License-Identifier: Apache-2.0
#include "worker/evaluator.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
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

Result<Evaluator> Evaluator::Make(const Job& job, std::unique_ptr<Adapter> adapter) {
  TypedGraph graph = TENCH_TRY(Infer(InferenceGraph(job.network), job.batch));
  FileData data = TENCH_TRY(FileData::Open(job.evaluation.data));
  TENCH_TRY(data.CheckFingerprint());
  TENCH_TRY(data.Fit(graph));
  data.Start(job.seed, 0, false);
  Evaluator evaluator(std::move(graph), std::move(adapter), std::move(data),
                      static_cast<int>(job.threads));
  TENCH_TRY(evaluator.FindLogits());
  BuildOptions options{job};
  options.phase = Phase::kForward;
  options.observe = true;
  options.profile = false;
  options.traced_steps = 0;
  TENCH_TRY(evaluator.adapter_->Build(*evaluator.graph_, options).In("evaluation"));
  return evaluator;
}

Status Evaluator::FindLogits() {
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

Status Evaluator::CopyParameters(Adapter& trained) {
  for (const Parameter& parameter : graph_->parameters)
    values_[parameter.name].resize(static_cast<size_t>(ElementCount(parameter.shape)));
  // A training has more: momenta, and the parameters of auxiliary losses.
  const TensorSink keep = [this](const std::string& name, std::span<const float> values) -> Status {
    const auto found = values_.find(name);
    if (found != values_.end()) found->second.assign(values.begin(), values.end());
    return Ok();
  };
  const TensorSource give = [this](const std::string& name, std::span<float> out) -> Status {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.size() != out.size())
      return Failed("the training has no tensor '{}' of {} values", name, out.size());
    std::copy(found->second.begin(), found->second.end(), out.begin());
    return Ok();
  };
  TENCH_TRY(trained.Parameters(keep));
  TENCH_TRY(trained.State(keep));
  TENCH_TRY(adapter_->SetParameters(give));
  return adapter_->SetState(give);
}

Result<Evaluation> Evaluator::Run(Adapter& trained, int64_t steps) {
  const int64_t start_ns = NowNs();
  TENCH_TRY(CopyParameters(trained).In("evaluation"));
  Evaluation evaluation;
  evaluation.step = steps;
  evaluation.samples = data_.count();
  ClassScore score;
  double batch_losses = 0;
  int64_t batches = 0;
  for (int64_t first = 0; first < data_.count(); first += graph_->batch) {
    // The last batch is completed with samples that do not count.
    const int64_t samples = std::min(graph_->batch, data_.count() - first);
    TENCH_TRY(data_.MakeBatch(*graph_, first, batch_, threads_));
    TENCH_TRY(adapter_->SetBatch(batch_));
    const double loss = TENCH_TRY(adapter_->Step(Phase::kForward));
    if (logits_.empty()) {
      batch_losses += loss;
      ++batches;
      continue;
    }
    const std::vector<std::string> wanted = {logits_};
    TENCH_TRY(adapter_->Outputs(
        wanted, [&](const std::string& name, std::span<const float> values) -> Status {
          if (static_cast<int64_t>(values.size()) != graph_->batch * classes_)
            return Failed("the output of '{}' has {} values", name, values.size());
          AddScores(values, classes_, batch_[label_].i32, samples, ignored_, score);
          return Ok();
        }));
  }
  const auto counted = static_cast<double>(std::max<int64_t>(score.counted, 1));
  evaluation.loss =
      logits_.empty() ? batch_losses / static_cast<double>(batches) : score.loss / counted;
  if (!logits_.empty()) {
    evaluation.top1 = static_cast<double>(score.top1) / counted;
    if (classes_ > 5) evaluation.top5 = static_cast<double>(score.top5) / counted;
  }
  evaluation.eval_ns = NowNs() - start_ns;
  return evaluation;
}

}  // namespace tench
