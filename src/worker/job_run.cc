// SPDX-License-Identifier: Apache-2.0
#include "worker/job_run.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "protocol/trace_file.h"
#include "worker/cache_eviction.h"
#include "worker/evaluator.h"
#include "worker/job_check.h"
#include "worker/job_input.h"
#include "worker/process_facts.h"
#include "worker/stop_signal.h"
#include "worker/tensor_output.h"
#include "worker/timed_loop.h"
#include "worker/turn_source.h"

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

// "1 thread, 2 batches ahead, 1.2 MB"
std::string LoaderText(const Job& job, const TypedGraph& graph) {
  int64_t values = 0;  // of 4 bytes
  for (const TypedLayer& layer : graph.layers) {
    if (std::holds_alternative<Input>(layer.layer.op)) values += ElementCount(layer.output.shape);
  }
  return fmt::format("{} thread{}, {} batch{} ahead, {}", job.data_threads,
                     job.data_threads == 1 ? "" : "s", job.prefetch, job.prefetch == 1 ? "" : "es",
                     HumanBytes((job.prefetch + 1) * values * 4));
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
  if (job.data_threads > 0) built.choices["loader"] = LoaderText(job, graph);
  built.frozen = std::move(facts.frozen);
  built.gradients_materialized = job.phase == Phase::kGradient && facts.gradients_materialized;
  return built;
}

int64_t BatchesOfStep(const Job& job) {
  return job.phase == Phase::kTrain ? job.solver.iter_size : 1;
}

int64_t FirstBatch(const Job& job) { return job.first_step * BatchesOfStep(job); }

// The number of samples after which the input repeats or the run ends. Real data does not repeat,
// because every epoch has its own order; without a fixed number of steps, one epoch is the cycle.
int64_t CycleSamples(const Job& job, const Budget& budget) {
  const int64_t images = job.images > 0 ? job.images : job.batch;
  if (budget.fixed_steps == 0) return images;
  // In double, because the product may overflow.
  const double used =
      (static_cast<double>(budget.warmup_steps) + static_cast<double>(budget.fixed_steps)) *
      static_cast<double>(job.batch) * static_cast<double>(BatchesOfStep(job));
  const bool repeats = job.data.empty() && used > static_cast<double>(images);
  return repeats ? images : static_cast<int64_t>(used);
}

LoopOptions LoopOf(const Job& job, const Budget& budget, JobInput& input, Adapter& adapter) {
  LoopOptions loop;
  loop.phase = job.phase;
  loop.budget = budget;
  loop.lr_schedule = job.lr_schedule;
  loop.batches = BatchesOfStep(job);
  const int64_t first = FirstBatch(job);
  if (job.data_threads > 0) {
    // The wait for the loader is input time, as far as the steps did not hide it.
    loop.next_batch = [&input, &adapter, first](int64_t batch) -> Status {
      TENCH_TRY(input.MakeBatchOf(first + batch));
      return adapter.SetBatch(input.batch());
    };
  } else if (job.cycled) {
    loop.make_batch = [&input, first](int64_t batch) { return input.MakeBatchOf(first + batch); };
    loop.next_batch = [&input, &adapter](int64_t) { return adapter.SetBatch(input.batch()); };
  }
  return loop;
}

// The number of batches that the loader makes.
int64_t LoaderBatches(const Job& job, const Budget& budget) {
  return budget.fixed_steps > 0 ? (budget.warmup_steps + budget.fixed_steps) * BatchesOfStep(job)
                                : std::numeric_limits<int64_t>::max();
}

Status SetInput(const Job& job, const Budget& budget, JobInput& input, Adapter& adapter) {
  if (job.data_threads > 0) {
    input.StartLoader(FirstBatch(job), LoaderBatches(job, budget));
    return Ok();
  }
  if (!job.cycled) {
    TENCH_TRY(input.MakeBatchOf(0));
    return adapter.SetBatch(input.batch());
  }
  Status made;
  TENCH_TRY(adapter.SetCycle(CycleSamples(job, budget), [&](int64_t batch) {
    if (made.ok()) made = input.MakeBatchOf(FirstBatch(job) + batch);
    return input.batch();
  }));
  return made;
}

// The steps, and the kernels within them.
Status WriteTrace(const TraceRequest& trace, std::span<const LoopResult::Interval> steps,
                  Adapter& adapter) {
  const int64_t last = std::min(trace.last, static_cast<int64_t>(steps.size()));
  if (last < trace.first)
    return Failed("job.trace: there is no timed step {}; the run made {}", trace.first,
                  steps.size());
  std::vector<TraceEvent> kept;
  for (int64_t step = trace.first; step <= last; ++step) {
    const LoopResult::Interval& interval = steps[static_cast<size_t>(step) - 1];
    kept.push_back({kStepsTrack, fmt::format("step {}", step), "", "", interval.start_ns,
                    interval.end_ns - interval.start_ns});
  }
  const int64_t begin_ns = kept.front().start_ns;
  const int64_t end_ns = kept.back().start_ns + kept.back().time_ns;
  for (TraceEvent& event : TENCH_TRY(adapter.Trace())) {
    if (event.start_ns >= begin_ns && event.start_ns < end_ns) kept.push_back(std::move(event));
  }
  return WriteTraceFile(trace.file, kept);
}

}  // namespace

Result<JobEnd> RunJob(const Job& job, Adapter& adapter, const AdapterMaker& make,
                      LineSink& answers) {
  Description description = adapter.Describe();
  description.turns = adapter.Pauses();
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
  TENCH_TRY(SetInput(job, budget, input, adapter));

  LoopOptions options = LoopOf(job, budget, input, adapter);
  std::optional<Evaluator> evaluator;
  if (job.evaluation.any()) {
    evaluator.emplace(TENCH_TRY(Evaluator::Make(job, make())));
    options.evaluate_every = job.evaluation.every;
    options.evaluate = [&](int64_t steps) -> Result<bool> {
      const Evaluation evaluation = TENCH_TRY(evaluator->Run(adapter, steps));
      TENCH_TRY(answers.Write(evaluation));
      return job.evaluation.until.ReachedBy(evaluation);
    };
  }
  options.generated_code = GeneratedCodeBytes;
  options.traced_steps = job.traced_steps;
  std::optional<CacheEviction> eviction;
  if (CacheEviction::Requested())
    options.before_step = [&eviction = eviction.emplace()] { eviction.Run(); };
  const StopRequest stop;
  options.stop = stop.token();
  std::optional<TurnSource> turns;
  if (job.turns) {
    turns.emplace(TENCH_TRY(TakeStandardInput()), stop.token());
    options.next_turn = [&]() -> Result<std::optional<Turn>> {
      TENCH_TRY(answers.Write(Ready{}));
      return turns->Next();
    };
  }
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
  const BatchLoader::Work loaded = input.loaded();
  done.loaded_samples = loaded.rows;
  done.loading_ns = loaded.cpu_ns;
  if (job.profile) done.profile = TENCH_TRY(adapter.Profile());
  if (job.trace.any()) TENCH_TRY(WriteTrace(job.trace, loop.traced, adapter));
  TENCH_TRY(answers.Write(done));
  return JobEnd::kComplete;
}

}  // namespace tench
