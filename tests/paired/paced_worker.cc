// SPDX-License-Identifier: Apache-2.0
// The reference worker with two options, for A/A tests of the verdicts. `label` has no effect, so
// cells that differ in it are equal under two names. `wait` prolongs every step by that share, by
// waiting after the work. Only for tests and bench/aa; tench does not find it by default.
#include "base/clock.h"
#include "base/text.h"
#include "worker/serve.h"
#include "workers/reference/adapter.h"

namespace tench {
namespace {

class PacedAdapter final : public Adapter {
 public:
  Description Describe() override {
    Description description = inner_->Describe();
    description.name = "paced";
    description.options = {{"label", "a name that changes nothing", "a", {"a", "b"}},
                           {"wait",
                            "per cent of each step to wait after it",
                            "0",
                            {"0", "1", "2", "3", "5", "10", "100", "1000"}}};
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (const auto wait = options.options.find("wait"); wait != options.options.end())
      wait_ = TENCH_TRY(ParseReal(wait->second).In("wait")) / 100;
    BuildOptions changed = options;
    changed.options.clear();
    return inner_->Build(graph, changed);
  }

  Result<double> Step(Phase phase) override {
    const int64_t begin_ns = NowNs();
    Result<double> loss = inner_->Step(phase);
    const int64_t now_ns = NowNs();
    const int64_t until_ns =
        now_ns + static_cast<int64_t>(wait_ * static_cast<double>(now_ns - begin_ns));
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
  Status SetLearningRate(double lr) override { return inner_->SetLearningRate(lr); }
  Status Gradients(const TensorSink& sink) override { return inner_->Gradients(sink); }
  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    return inner_->Outputs(layers, sink);
  }

 private:
  std::unique_ptr<Adapter> inner_ = MakeReferenceAdapter();
  double wait_ = 0;
};

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] {
    return std::unique_ptr<tench::Adapter>(std::make_unique<tench::PacedAdapter>());
  });
}
