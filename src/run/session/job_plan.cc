// SPDX-License-Identifier: Apache-2.0
#include "run/session/job_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "axis/learning_rate.h"
#include "base/clock.h"
#include "base/text.h"
#include "data/data_reference.h"
#include "data/data_set.h"
#include "machine/affinity.h"
#include "machine/placement.h"
#include "net/cost.h"
#include "run/session/job_axes.h"
#include "run/session/worker_catalog.h"
#include "run/session/worker_environment.h"

namespace tench {
namespace {

constexpr int64_t kMostRates = 200'000;  // of a schedule in a job's file

std::string DurationText(int64_t ns) {
  if (ns % 1'000'000'000 == 0) return fmt::format("{}s", ns / 1'000'000'000);
  if (ns % 1'000'000 == 0) return fmt::format("{}ms", ns / 1'000'000);
  return fmt::format("{:.9f}s", static_cast<double>(ns) / 1e9);
}

// By default, the loader's threads get CPUs of their own, as far as there are enough.
Result<int64_t> ResolveThreads(int64_t asked, int64_t data_threads, int64_t allowed_cpus) {
  if (asked == 0) return std::max<int64_t>(1, allowed_cpus - data_threads);
  if (asked > allowed_cpus)
    return Unsupported("{} threads were requested, but this process may use only {} CPUs", asked,
                       allowed_cpus);
  return asked;
}

Result<int64_t> ResolveImages(const Cell& cell, const Budget& budget) {
  const int64_t asked = cell.Integer(kAxisImages);
  const bool cycled = cell.Text(kAxisInput) == "cycled";
  if (asked > 0 || (!cycled && budget.epochs == 0)) return asked;
  // A cell of a suite names its data already; resolving real data would read it all.
  const std::string& own = cell.Text(kAxisData);
  const std::string data =
      IsDataReference(own) ? own : TENCH_TRY(ResolveData(cell.Text(kAxisNetwork), own));
  if (data.empty())
    return Unsupported(
        "the number of images is needed for epochs or cycled input of a network from a file "
        "(--images)");
  return ImagesOf(data);
}

// The data field of the job. The number of images is at most that of the files.
Status AddRealData(const Cell& cell, Job& job) {
  const std::string& data = cell.Text(kAxisData);
  if (!IsDataReference(data)) return Ok();
  if (job.labels > 0)
    return Unsupported("the axis labels limits the labels of synthetic data only");
  job.data = TENCH_TRY(AbsoluteDataReference(data));
  const int64_t images = TENCH_TRY(ImagesOf(data));
  if (job.images > images)
    return Unsupported("{} images were requested, but the data has {}", job.images, images);
  return Ok();
}

// A loader's batches have no use for one resident batch.
Status CheckLoader(const Job& job) {
  if (job.data_threads == 0 || job.cycled) return Ok();
  return Unsupported("the axis data_threads needs input=cycled: a resident batch is loaded once");
}

Result<EvaluationPlan> PlanEvaluation(const Budget& budget, const Job& job) {
  EvaluationPlan plan;
  if (budget.test_data.empty()) return plan;
  if (job.phase != Phase::kTrain)
    return Unsupported("an evaluation needs phase=train: phase {} changes no parameter",
                       Name(job.phase));
  plan.data = TENCH_TRY(AbsoluteDataReference(budget.test_data));
  plan.every = budget.eval_every > 0 ? budget.eval_every : job.images / job.batch;
  if (plan.every == 0)
    return Unsupported(
        "the run has no epochs (fixed input); --eval-every states the steps between "
        "evaluations");
  plan.until = TENCH_TRY(ParseTarget(budget.until));
  return plan;
}

// A stop rule never makes as many steps as the longest schedule; its last rate would continue.
Status AddSchedule(const Cell& cell, Job& job) {
  LearningRate rate = TENCH_TRY(ParseRatePolicy(cell.Text(kAxisLrPolicy)));
  rate.base = job.solver.lr;
  if (rate.policy == RatePolicy::kFixed) return Ok();
  const int64_t steps =
      job.budget.fixed_steps > 0 ? job.budget.warmup_steps + job.budget.fixed_steps : kMostRates;
  if (steps > kMostRates)
    return Unsupported("the axis lr_policy allows {} steps, not {}", kMostRates, steps);
  job.lr_schedule = rate.Schedule(steps);
  for (size_t i = 0; i < job.lr_schedule.size(); ++i) {
    if (!std::isfinite(job.lr_schedule[i]) || job.lr_schedule[i] < 0)
      return Unsupported("lr_policy {}: the learning rate of step {} is {}",
                         cell.Text(kAxisLrPolicy), i, job.lr_schedule[i]);
  }
  return Ok();
}

Result<Budget> ResolveBudget(Budget budget, int64_t images, int64_t batch) {
  if (budget.epochs == 0) return budget;
  const int64_t per_epoch = images / batch;
  if (per_epoch == 0)
    return Unsupported("a batch of {} is more than the {} images of an epoch", batch, images);
  if (budget.epochs > std::numeric_limits<int64_t>::max() / per_epoch)
    return Unsupported("{} epochs are too many", budget.epochs);
  budget.fixed_steps = per_epoch * budget.epochs;
  budget.epochs = 0;
  return budget;
}

Status NoteNetwork(const Graph& network, int64_t batch, Phase phase, RunRecord& record) {
  record.fingerprint = Fingerprint(network);
  const TypedGraph typed = TENCH_TRY(Infer(network, batch));
  record.parameters = TotalCost(typed).parameters;
  // If dropout is the identity, the job determines the losses.
  record.dropout =
      phase != Phase::kForward &&
      std::any_of(network.layers.begin(), network.layers.end(), [](const Layer& layer) {
        const Dropout* dropout = std::get_if<Dropout>(&layer.op);
        return dropout != nullptr && dropout->ratio > 0;
      });
  const Graph inference = InferenceGraph(network);
  record.forward_flops_per_image = TotalCost(TENCH_TRY(Infer(inference, 1))).forward_flops;
  record.step_flops = phase == Phase::kForward
                          ? StepFlops(TENCH_TRY(Infer(inference, batch)), phase)
                          : StepFlops(typed, phase);
  return Ok();
}

}  // namespace

std::string Reproducer(const PlannedCell& planned) {
  std::string command = "tench run " + planned.cell.Flags();
  const Budget& budget = planned.budget;
  const Limits& limits = planned.limits;
  const Budget usual;
  const Limits usual_limits;
  const auto add = [&](bool differs, std::string_view flag, const std::string& value) {
    if (differs) command += fmt::format(" {} {}", flag, value);
  };
  const auto duration = [&](int64_t ns, int64_t usual_ns, std::string_view flag) {
    add(ns != usual_ns, flag, DurationText(ns));
  };
  const bool fixed = budget.fixed_steps > 0 || budget.epochs > 0;
  add(budget.fixed_steps > 0, "--steps", fmt::format("{}", budget.fixed_steps));
  add(budget.epochs > 0, "--epochs", fmt::format("{}", budget.epochs));
  add(budget.warmup_steps != usual.warmup_steps, "--warmup",
      fmt::format("{}", budget.warmup_steps));
  add(!budget.test_data.empty(), "--test-data", ShellQuote(budget.test_data));
  add(budget.eval_every > 0, "--eval-every", fmt::format("{}", budget.eval_every));
  add(!budget.until.empty(), "--until", ShellQuote(budget.until));
  if (!fixed) {
    add(budget.min_steps != usual.min_steps, "--min-steps", fmt::format("{}", budget.min_steps));
    duration(budget.min_time_ns, usual.min_time_ns, "--min-time");
    add(budget.relative_interval != usual.relative_interval, "--interval",
        fmt::format("{}", budget.relative_interval));
    duration(budget.time_limit_ns, usual.time_limit_ns, "--time-limit");
  }
  duration(limits.timeout_ns, usual_limits.timeout_ns, "--timeout");
  add(limits.memory_bytes > 0, "--memory-limit", fmt::format("{}", limits.memory_bytes));
  add(limits.swap == SwapPolicy::kKill, "--swap", "kill");
  return command;
}

std::string RunCommand(const RunRequest& request) {
  PlannedCell planned = ExecutedCell(request);
  // The default, all CPUs, depends on the machine and on the caller's affinity.
  if (planned.cell.Integer(kAxisThreads) == 0)
    planned.cell.values[kAxisThreads] =
        std::max<int64_t>(1, CpusFor(planned.cell) - planned.cell.Integer(kAxisDataThreads));
  std::string command;
  const std::string worker = WorkerName::Of(planned.cell.Text(kAxisWorker)).name;
  for (const auto& [name, value] : DecisiveEnvironment(OwnEnvironment(), worker))
    command += fmt::format("{}={} ", name, ShellQuote(value));
  return command + Reproducer(planned) + request.amendment;
}

PlacementName PlacementOf(const Cell& cell) {
  const Result<PlacementName> placement = ParsePlacement(cell.Text(kAxisPlacement));
  Check(placement.ok(), "a cell's placement is valid");
  return *placement;
}

int64_t CpusFor(const Cell& cell) {
  const PlacementName placement = PlacementOf(cell);
  if (placement.kind != PlacementName::Kind::kNode)
    return static_cast<int64_t>(AllowedCpus().size());
  // At least one, so that a node without CPUs is refused by its name when the run is placed.
  return std::max<int64_t>(
      1, static_cast<int64_t>(PlaceableCpus(ReadTopology(AllowedCpus()), placement)));
}

RunRecord DraftRecord(const RunRequest& request) {
  RunRecord record;
  record.study = request.study;
  record.round = request.round;
  record.attempt = request.attempt;
  record.repetition = request.repetition;
  record.cell = request.planned.cell;
  record.cell_id = request.planned.id;
  if (request.tuning != nullptr) {
    record.settings = request.tuning->settings;
    record.summary.tune_ns = request.tuning->spent_ns;
    record.summary.tune_pays_steps = request.tuning->PaysAfterSteps();
  }
  record.block = request.planned.block;
  record.budget = request.planned.budget;
  record.limits = request.planned.limits;
  record.reproducer = RunCommand(request);
  record.started_utc = UtcNow();
  record.machine = request.machine;
  record.machine_id = request.machine_id;
  record.cpu_model = request.cpu_model;
  record.isa = request.isa;
  record.build = request.build;
  return record;
}

Result<Job> PlanJob(const PlannedCell& planned, int64_t allowed_cpus, RunRecord& record,
                    const NetworkReaders& readers) {
  const Cell& cell = planned.cell;
  Job job;
  job.network = TENCH_TRY(LoadNetwork(cell.Text(kAxisNetwork), cell.Text(kAxisData),
                                      cell.Integer(kAxisLength), readers));
  ApplyAxes(cell, job);
  record.solver = SolverText(job.solver);
  TENCH_TRY(NoteNetwork(job.network, job.batch, job.phase, record));
  job.threads = record.threads =
      TENCH_TRY(ResolveThreads(job.threads, job.data_threads, allowed_cpus));
  TENCH_TRY(AddRealData(cell, job));
  job.images = TENCH_TRY(ResolveImages(cell, planned.budget));
  job.budget = TENCH_TRY(ResolveBudget(planned.budget, job.images, job.batch));
  TENCH_TRY(AddSchedule(cell, job));
  TENCH_TRY(CheckLoader(job));
  job.evaluation = TENCH_TRY(PlanEvaluation(planned.budget, job));
  job.evaluated = job.evaluation.any();
  return job;
}

}  // namespace tench
