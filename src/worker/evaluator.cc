// SPDX-License-Identifier: Apache-2.0
#include "worker/evaluator.h"

#include <algorithm>

#include "base/clock.h"

namespace tench {

Result<Evaluator> Evaluator::Make(const Job& job, std::unique_ptr<Adapter> adapter) {
  Evaluator evaluator(TENCH_TRY(TestSplit::Open(job)), std::move(adapter));
  BuildOptions options{job};
  options.phase = Phase::kForward;
  options.observe = true;
  options.profile = false;
  options.traced_steps = 0;
  TENCH_TRY(evaluator.adapter_->Build(evaluator.split_.graph(), options).In("evaluation"));
  return evaluator;
}

Status Evaluator::CopyParameters(Adapter& trained) {
  for (const Parameter& parameter : split_.graph().parameters)
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
  split_.Begin();
  for (int64_t index = 0; index < split_.batches(); ++index) {
    const std::span<const HostTensor> batch = TENCH_TRY(split_.Read(index));
    TENCH_TRY(adapter_->SetBatch(batch));
    const double loss = TENCH_TRY(adapter_->Step(Phase::kForward));
    if (split_.logits().empty()) {
      TENCH_TRY(split_.Add(loss, {}));
      continue;
    }
    const std::vector<std::string> wanted = {split_.logits()};
    TENCH_TRY(adapter_->Outputs(wanted, [&](const std::string&, std::span<const float> values) {
      return split_.Add(loss, values);
    }));
  }
  Evaluation evaluation = split_.Scores();
  evaluation.step = steps;
  evaluation.eval_ns = NowNs() - start_ns;
  return evaluation;
}

}  // namespace tench
