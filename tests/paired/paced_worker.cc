// SPDX-License-Identifier: Apache-2.0
// The reference worker with three options, for tests of the verdicts. `label` has no effect, so
// cells that differ in it are equal under two names. `wait` prolongs every step by that share, and
// `floor` up to a duration, by waiting after the work. Only for tests; tench does not
// find it by default.
#include "base/text.h"
#include "waiting_adapter.h"
#include "worker/serve.h"
#include "workers/reference/adapter.h"

namespace tench {
namespace {

class PacedAdapter final : public WaitingAdapter {
 public:
  PacedAdapter() : WaitingAdapter(MakeReferenceAdapter(), 0) {}

  Description Describe() override {
    Description description = WaitingAdapter::Describe();
    description.name = "paced";
    description.options = {{"label", "a name that changes nothing", "a", {"a", "b"}},
                           {"wait",
                            "per cent of each step to wait after it",
                            "0",
                            {"0", "1", "2", "3", "5", "10", "100", "1000"}},
                           {"floor", "shortest duration of a step in ms", "0", {"0", "50"}}};
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    if (const auto wait = options.options.find("wait"); wait != options.options.end()) {
      share_ = TENCH_TRY(ParseReal(wait->second).In("wait")) / 100;
      SetWait(share_);
    }
    if (const auto floor = options.options.find("floor"); floor != options.options.end())
      SetLeastStep(TENCH_TRY(ParseInteger(floor->second).In("floor")) * 1000000);
    for (const TypedLayer& layer : graph.layers) {
      if (layer_.empty() && !layer.parameters.empty()) layer_ = layer.layer.name;
    }
    BuildOptions changed = options;
    changed.options.clear();
    return WaitingAdapter::Build(graph, changed);
  }

  // A profile of two kernels of the first layer with parameters: the work, and the wait.
  Result<double> Step(Phase phase) override {
    const int64_t begin_ns = NowNs();
    Result<double> loss = WaitingAdapter::Step(phase);
    ++steps_;
    spent_ns_ += NowNs() - begin_ns;
    return loss;
  }
  void RestartProfile() override { steps_ = spent_ns_ = 0; }
  Result<std::vector<ProfileRow>> Profile() override {
    const auto work_ns = static_cast<int64_t>(static_cast<double>(spent_ns_) / (1 + share_));
    return std::vector<ProfileRow>{
        {layer_, "forward", "loops", steps_, work_ns, 1000 * steps_, 0},
        {layer_, "backward", "busy_wait", steps_, spent_ns_ - work_ns, 0, 0}};
  }

 private:
  std::string layer_;
  double share_ = 0;
  int64_t steps_ = 0, spent_ns_ = 0;
};

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] {
    return std::unique_ptr<tench::Adapter>(std::make_unique<tench::PacedAdapter>());
  });
}
