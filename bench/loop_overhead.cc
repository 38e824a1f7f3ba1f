// SPDX-License-Identifier: Apache-2.0
// Measures the overhead of the timed loop per step with an adapter whose steps are empty: the
// loop's total time over its number of steps, protocol lines included.
#include <cstdio>
#include <string>

#include "base/clock.h"
#include "worker/timed_loop.h"

namespace tench {
namespace {

class NullAdapter final : public Adapter {
 public:
  Description Describe() override { return {}; }
  Result<BuildFacts> Build(const TypedGraph&, const BuildOptions&) override { return BuildFacts{}; }
  Status SetParameters(const TensorSource&) override { return Ok(); }
  Status Parameters(const TensorSink&) override { return Ok(); }
  Status SetState(const TensorSource&) override { return Ok(); }
  Status State(const TensorSink&) override { return Ok(); }
  Status SetBatch(std::span<const HostTensor>) override { return Ok(); }
  Status SetLearningRate(double) override { return Ok(); }
  Result<double> Step(Phase) override { return 2.302585; }
  Status Gradients(const TensorSink&) override { return Ok(); }
  Status Outputs(std::span<const std::string>, const TensorSink&) override { return Ok(); }
};

void Measure(const char* name, const Budget& budget) {
  NullAdapter adapter;
  LoopOptions options;
  options.budget = budget;
  int64_t inside_ns = 0, bytes = 0;
  const int64_t start_ns = NowNs();
  const auto result = RunTimedLoop(adapter, options, [&](const Steps& steps) -> Status {
    for (const int64_t step_ns : steps.step_ns) inside_ns += step_ns;
    bytes += static_cast<int64_t>(ToLine(steps).size());
    return Ok();
  });
  const double steps = static_cast<double>(result->steps);
  std::printf(
      "%-12s %9.0f steps: %6.1f ns per step on the clock, %7.1f ns in all (with %.1f bytes of "
      "answer)\n",
      name, steps, static_cast<double>(inside_ns) / steps,
      static_cast<double>(NowNs() - start_ns) / steps, static_cast<double>(bytes) / steps);
}

}  // namespace
}  // namespace tench

int main() {
  tench::Budget fixed;
  fixed.fixed_steps = 1'000'000;
  tench::Measure("fixed steps", fixed);
  tench::Budget open_ended;
  open_ended.relative_interval = 0;
  open_ended.time_limit_ns = 30'000'000;
  tench::Measure("stop rule", open_ended);
}
