// SPDX-License-Identifier: Apache-2.0
#include "worker/job_run.h"

#include <algorithm>

#include "base/clock.h"
#include "worker/job_check.h"
#include "worker/job_input.h"
#include "worker/process_facts.h"
#include "worker/stop_signal.h"
#include "worker/tensor_output.h"
#include "worker/timed_loop.h"

namespace tench {
namespace {

Hello MakeHello(Description worker) {
  if (!ResetPeakResident())
    worker.facts["peak_rss"] = "of the whole process: /proc/self/clear_refs cannot be written here";
  return {std::move(worker), LoadedLibraries(), FlushToZero(), ResidentBytes()};
}

BuildOptions OptionsOf(const Job& job) {
  BuildOptions options{job};
  options.observe = job.tensors.any() && job.tensors.observe;
  return options;
}

Result<Built> BuildNetwork(const Job& job, const TypedGraph& graph, const JobInput& input,
                           Adapter& adapter) {
  Built built;
  const int64_t start_ns = NowNs();
  BuildFacts facts = TENCH_TRY(adapter.Build(graph, OptionsOf(job)));
  built.build_ns = NowNs() - start_ns;
  const TensorSource source = [&](const std::string& name, std::span<float> out) {
    return input.Fill(name, out);
  };
  TENCH_TRY(adapter.SetParameters(source));
  TENCH_TRY(adapter.SetState(source));
  if (job.first_step > 0) TENCH_TRY(adapter.Resume(job.first_step));
  built.peak_rss_bytes = PeakResidentBytes();
  built.planned_bytes = facts.planned_bytes;
  built.choices = std::move(facts.choices);
  built.frozen = std::move(facts.frozen);
  built.gradients_materialized = job.phase == Phase::kGradient && facts.gradients_materialized;
  return built;
}

// The number of samples after which the input repeats or the run ends. Real data does not repeat,
// because every epoch has its own order; without a fixed number of steps, one epoch is the cycle.
int64_t CycleSamples(const Job& job, const Budget& budget) {
  const int64_t images = job.images > 0 ? job.images : job.batch;
  if (budget.fixed_steps == 0) return images;
  // In double, because the product may overflow.
  const double used =
      (static_cast<double>(budget.warmup_steps) + static_cast<double>(budget.fixed_steps)) *
      static_cast<double>(job.batch) *
      static_cast<double>(job.phase == Phase::kTrain ? job.solver.iter_size : 1);
  const bool repeats = job.data.empty() && used > static_cast<double>(images);
  return repeats ? images : static_cast<int64_t>(used);
}

LoopOptions LoopOf(const Job& job, const Budget& budget, JobInput& input, Adapter& adapter) {
  LoopOptions loop;
  loop.phase = job.phase;
  loop.budget = budget;
  loop.lr_schedule = job.lr_schedule;
  if (job.phase == Phase::kTrain) loop.batches = job.solver.iter_size;
  if (job.cycled) {
    const int64_t first = job.first_step * loop.batches;
    loop.make_batch = [&input, first](int64_t batch) { return input.MakeBatchOf(first + batch); };
    loop.next_batch = [&input, &adapter](int64_t) { return adapter.SetBatch(input.batch()); };
  }
  return loop;
}

}  // namespace

Result<JobEnd> RunJob(const Job& job, Adapter& adapter, LineSink& answers) {
  const Description description = adapter.Describe();
  TENCH_TRY(answers.Write(MakeHello(description)));

  const Graph network = job.phase == Phase::kForward ? InferenceGraph(job.network) : job.network;
  const TypedGraph graph = TENCH_TRY(Infer(network, job.batch));
  TENCH_TRY(CheckJob(job, graph, description));
  TENCH_TRY(ResolveOutputs(graph, job.tensors.outputs));
  const Budget budget = TENCH_TRY(ResolveBudget(job));
  JobInput input = TENCH_TRY(JobInput::Open(job, graph));

  const Built built = TENCH_TRY(BuildNetwork(job, graph, input, adapter));
  TENCH_TRY(answers.Write(built));
  ResetPeakResident();
  if (job.cycled) {
    Status made;
    const int64_t first =
        job.first_step * (job.phase == Phase::kTrain ? job.solver.iter_size : 1);
    TENCH_TRY(adapter.SetCycle(CycleSamples(job, budget), [&](int64_t step) {
      if (made.ok()) made = input.MakeBatchOf(first + step);
      return input.batch();
    }));
    TENCH_TRY(std::move(made));
  } else {
    TENCH_TRY(input.MakeBatchOf(0));
    TENCH_TRY(adapter.SetBatch(input.batch()));
  }

  LoopOptions options = LoopOf(job, budget, input, adapter);
  const StopRequest stop;
  options.stop = stop.token();
  const Snapshots& kept = job.snapshots;
  if (kept.any()) {
    options.after_step = [&](int64_t steps) -> Status {
      if (!std::binary_search(kept.after.begin(), kept.after.end(), steps)) return Ok();
      return WriteSnapshot(adapter, graph, kept.folder, steps);
    };
  }
  if (job.tensors.every_step) {
    options.after_step = [&, snapshot = std::move(options.after_step)](int64_t steps) -> Status {
      if (snapshot) TENCH_TRY(snapshot(steps));
      return WriteStepOutputs(adapter, graph, job.tensors, steps);
    };
  }
  const ThreadTimes before_steps = ReadThreadTimes();
  const LoopResult loop = TENCH_TRY(
      RunTimedLoop(adapter, options, [&](const Steps& steps) { return answers.Write(steps); }));
  if (loop.stopped && kept.any() &&
      !std::binary_search(kept.after.begin(), kept.after.end(), loop.steps))
    TENCH_TRY(WriteSnapshot(adapter, graph, kept.folder, loop.steps));
  if (loop.stopped) return JobEnd::kStopped;
  // Read before tensors are collected, which is not part of a step.
  const int64_t peak_rss_bytes = PeakResidentBytes() + PeakResidentBytes(adapter.Helper());
  // The threads of a helper are in another process.
  const std::string flush_to_zero = adapter.Helper() > 0 ? "" : FlushToZeroSince(before_steps);
  TENCH_TRY(WriteTensors(adapter, graph, job.tensors));
  Done done{loop.converged, peak_rss_bytes, loop.cpu_ns, loop.wall_ns, {}, flush_to_zero};
  if (job.profile) done.profile = TENCH_TRY(adapter.Profile());
  TENCH_TRY(answers.Write(done));
  return JobEnd::kComplete;
}

}  // namespace tench
