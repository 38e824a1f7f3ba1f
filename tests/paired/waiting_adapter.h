// SPDX-License-Identifier: Apache-2.0
#pragma once
// An adapter that prolongs every step of another one by waiting after the work: by a share of the
// step, a planted slowdown for tests of the verdicts and of the gate, or up to a fixed duration,
// whatever the machine's load. Not part of the product.

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "worker/adapter.h"

namespace tench {

class WaitingAdapter : public Adapter {
 public:
  WaitingAdapter(std::unique_ptr<Adapter> inner, double wait)
      : inner_(std::move(inner)), wait_(wait) {}

  Description Describe() override { return inner_->Describe(); }
  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    return inner_->Build(graph, options);
  }
  Result<double> Step(Phase phase) override {
    const int64_t begin_ns = NowNs();
    Result<double> loss = inner_->Step(phase);
    const int64_t now_ns = NowNs();
    const int64_t share_ns = static_cast<int64_t>(wait_ * static_cast<double>(now_ns - begin_ns));
    const int64_t until_ns = std::max(now_ns + share_ns, begin_ns + least_step_ns_);
    // Busy waiting, because the kernel's timer slack makes sleeps imprecise.
    while (NowNs() < until_ns) {
    }
    return loss;
  }
  Status SetParameters(const TensorSource& source) override {
    return inner_->SetParameters(source);
  }
  Status Parameters(const TensorSink& sink) override { return inner_->Parameters(sink); }
  Status SetState(const TensorSource& source) override { return inner_->SetState(source); }
  Status State(const TensorSink& sink) override { return inner_->State(sink); }
  Status SetBatch(std::span<const HostTensor> inputs) override { return inner_->SetBatch(inputs); }
  Status SetCycle(int64_t samples, const BatchSource& batch) override {
    return inner_->SetCycle(samples, batch);
  }
  Status SetLearningRate(double lr) override { return inner_->SetLearningRate(lr); }
  Status Gradients(const TensorSink& sink) override { return inner_->Gradients(sink); }
  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    return inner_->Outputs(layers, sink);
  }
  bool Pauses() const override { return inner_->Pauses(); }
  pid_t Helper() const override { return inner_->Helper(); }
  Result<std::vector<ProfileRow>> Profile() override { return inner_->Profile(); }

 protected:
  void SetWait(double wait) { wait_ = wait; }
  void SetLeastStep(int64_t least_step_ns) { least_step_ns_ = least_step_ns; }

 private:
  std::unique_ptr<Adapter> inner_;
  double wait_;
  int64_t least_step_ns_ = 0;
};

}  // namespace tench
