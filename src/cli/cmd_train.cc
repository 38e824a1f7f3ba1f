// SPDX-License-Identifier: Apache-2.0
// `tench train`: the counterpart of `caffe train` for any worker. Reads a solver file, writes
// Caffe's log lines and .caffemodel snapshots.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/caffe_log_writer.h"
#include "cli/caffe_weights.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "machine/affinity.h"
#include "net/caffe/caffemodel.h"
#include "net/caffe/solver_file.h"
#include "parity/answer.h"
#include "protocol/tensor_path.h"
#include "run/session/training.h"

namespace tench {
namespace {

struct TrainFlags {
  std::string solver, worker = "native", weights;
  int64_t batch = 0, threads = 0, images = 0, iterations = 0;
};

void Note(const std::string& text) { fmt::print(stderr, "tench: note: {}\n", text); }

std::vector<int64_t> SnapshotSteps(const CaffeSolver& solver) {
  std::vector<int64_t> steps;
  for (int64_t at = solver.snapshot; solver.snapshot > 0 && at <= solver.max_iterations;
       at += solver.snapshot)
    steps.push_back(at);
  if (solver.snapshot_after_train && (steps.empty() || steps.back() != solver.max_iterations))
    steps.push_back(solver.max_iterations);
  return steps;
}

Result<Job> MakeJob(const TrainFlags& flags, const CaffeSolver& solver,
                    const CaffeNetwork& network) {
  Job job;
  job.network = network.graph;
  job.batch = flags.batch > 0 ? flags.batch : network.batch;
  if (job.batch == 0) return Failed("the network's file has no batch size; use --batch");
  const int64_t cpus = static_cast<int64_t>(AllowedCpus().size());
  job.threads = flags.threads > 0 ? flags.threads : cpus;
  job.seed = static_cast<uint64_t>(solver.random_seed.value_or(1));
  job.cycled = flags.images > 0;
  job.images = flags.images;
  job.solver = solver.solver;
  job.lr_schedule = solver.rate.Schedule(solver.max_iterations);
  // Caffe also logs the loss after the last update, from one more forward pass.
  const bool last_loss = solver.display > 0 && solver.max_iterations % solver.display == 0;
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = solver.max_iterations + (last_loss ? 1 : 0);
  job.snapshots.after = SnapshotSteps(solver);
  TENCH_TRY(Infer(job.network, job.batch));
  return job;
}

// Converts the raw files of a snapshot to a .caffemodel.
Status KeepSnapshot(const std::string& file, const CaffeNetwork& network,
                    const std::filesystem::path& folder) {
  const TypedGraph typed = TENCH_TRY(Infer(network.graph, 1));
  const ParameterSource source = [&](const Parameter& parameter, std::span<float> out) {
    return ReadRaw(TensorPath(folder, parameter.trained ? "parameters" : "state", parameter.name),
                   out);
  };
  return WriteCaffemodel(file, typed, network.names, source);
}

// Checked before the training, because a failure afterwards would cost hours.
Status CheckPrefix(const std::string& prefix) {
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  const std::string text = folder.empty() ? "." : folder.string();
  if (access(text.c_str(), W_OK | X_OK) == 0) return Ok();
  return Failed("snapshots cannot be written to '{}': {}", text, std::strerror(errno));
}

Result<int> TrainSolver(const TrainFlags& flags) {
  CaffeSolver solver = TENCH_TRY(ReadSolverFile(flags.solver));
  if (flags.iterations > 0) solver.max_iterations = flags.iterations;
  const CaffeNetwork network = TENCH_TRY(NetworkOf(solver, flags.solver));
  WorkerCatalog workers = WorkerCatalog::Discover();
  const WorkerName worker = WorkerName::Of(flags.worker);
  const WorkerEntry* entry = TENCH_TRY(workers.Find(worker.name));
  Job job = TENCH_TRY(MakeJob(flags, solver, network));
  if (!job.snapshots.after.empty()) TENCH_TRY(CheckPrefix(solver.snapshot_prefix));
  for (const std::string& note : solver.notes) Note(note);
  for (const std::string& note : network.notes) Note(note);
  Note(flags.images > 0
           ? fmt::format("the data is synthetic: {} samples in the shape of the network's inputs",
                         flags.images)
           : "the data is synthetic: one batch in the shape of the network's inputs (--images "
             "cycles through more)");

  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-weights-"));
  CaffeLogWriter log(solver, network.graph,
                     [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  std::vector<std::string> weights =
      flags.weights.empty() ? solver.weights : Split(flags.weights, ',');
  for (const std::string& file : weights) {
    const WeightFiles files =
        TENCH_TRY(UnpackWeights(file, network.graph, network.names, folder.path()));
    for (const std::string& note : files.notes) Note(note);
    for (const auto& [name, path] : files.load) job.tensors.load[name] = path;
    log.Weights(file);
  }

  bool snapshot_failed = false;
  TrainingEvents events;
  events.on_hello = [&](const Hello&) -> Status { return log.Start(), Ok(); };
  events.on_steps = [&](const Steps& steps) -> Status {
    for (size_t i = 0; i < steps.loss.size(); ++i)
      log.Step(steps.first + static_cast<int64_t>(i), steps.step_ns[i], steps.loss[i]);
    return Ok();
  };
  events.on_snapshot = [&](int64_t steps, const std::filesystem::path& from) -> Status {
    if (steps == 0 || steps > solver.max_iterations) return Ok();
    const std::string file = fmt::format("{}_iter_{}.caffemodel", solver.snapshot_prefix, steps);
    log.Snapshot(file);
    Status kept = KeepSnapshot(file, network, from);
    snapshot_failed = !kept.ok();
    return kept;
  };
  Interrupt interrupt;
  const Result<TrainingEnd> end =
      Train(*entry, worker.version, std::move(job), events, interrupt.stop());
  if (!end.ok()) {
    FailProgram(end.error().message);
    return snapshot_failed ? kExitBadInput : kExitFailedRuns;
  }
  log.Done(*end == TrainingEnd::kComplete);
  return *end == TrainingEnd::kComplete ? kExitOk : kExitInterrupted;
}

}  // namespace

Command AddTrainCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("train", "Train the network of a Caffe solver file with any worker");
  auto flags = std::make_shared<TrainFlags>();
  app->add_option("--solver", flags->solver,
                  "solver file; its network is searched here, then beside it")
      ->required()
      ->type_name("");
  app->add_option("--worker", flags->worker,
                  "worker (tench list workers), or NAME@VERSION [native]")
      ->type_name("");
  app->add_option("--weights", flags->weights,
                  "initial weights: .caffemodel files, separated by commas")
      ->type_name("");
  app->add_option("--batch", flags->batch, "batch size [the network file's]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20).description(""));
  app->add_option("--threads", flags->threads, "threads [all CPUs]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}).description(""));
  app->add_option("--images", flags->images, "number of synthetic samples [one batch]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40).description(""));
  app->add_option("--max-iter", flags->iterations, "iterations [the solver file's]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31).description(""));
  app->footer(
      "The log has Caffe's format and goes to standard error. Snapshots are\n"
      "PREFIX_iter_N.caffemodel; Ctrl-C writes a last one and stops.\n"
      "Exit code: 0 trained, 4 the worker failed, 2 bad input, 130 interrupted.");
  return {app, [flags] { return TrainSolver(*flags); }};
}

}  // namespace tench
