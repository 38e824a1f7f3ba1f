// SPDX-License-Identifier: Apache-2.0
// `tench train`: the counterpart of `caffe train` for any worker. Reads a solver file and the data
// of its network, tests, writes Caffe's log lines and snapshots, and continues from them.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/caffe_data.h"
#include "cli/caffe_log_writer.h"
#include "cli/caffe_weights.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/test_network.h"
#include "cli/training_snapshot.h"
#include "machine/affinity.h"
#include "net/caffe/solver_file.h"
#include "protocol/tensor_path.h"
#include "run/session/training.h"

namespace tench {
namespace {

struct TrainFlags {
  std::string solver, worker = "native", weights, snapshot, data;
  int64_t batch = 0, threads = 0, images = 0, iterations = 0;
};

void Note(const std::string& text) { fmt::print(stderr, "tench: note: {}\n", text); }

// One training: what the files say, and the job of the worker. Members are set in the order of
// TrainSolver.
class SolverTraining {
 public:
  explicit SolverTraining(const TrainFlags& flags) : flags_(flags) {}

  Status Open();
  Result<int> Run();

 private:
  Status OpenNetwork();
  Status MakeJob();
  Status LoadWeights();
  std::vector<int64_t> SnapshotIterations() const;
  bool TestsAt(int64_t iteration) const {
    return !tests_.empty() && iteration % solver_.test_interval == 0;
  }
  Status Test(int64_t iteration, const std::map<std::string, std::string>& load);
  Status OnSnapshot(int64_t iteration, const std::filesystem::path& raw);

  const TrainFlags& flags_;
  CaffeSolver solver_;
  CaffeJob network_;
  std::vector<CaffeTestNet> tests_;
  const WorkerEntry* entry_ = nullptr;
  WorkerName worker_;
  WorkerCatalog workers_ = WorkerCatalog::Discover();
  Job job_;
  int64_t first_ = 0;  // iterations before this training
  std::vector<int64_t> snapshots_;
  std::vector<std::string> weights_;
  std::optional<TemporaryFolder> folder_;
  std::optional<CaffeLogWriter> log_;
  Interrupt interrupt_;
  bool snapshot_failed_ = false;
};

Status SolverTraining::OpenNetwork() {
  const bool synthetic = flags_.images > 0 && flags_.data.empty();
  if (solver_.network) {
    network_.network = *solver_.network;
    if (!flags_.data.empty())
      return Failed("{}: --data needs the network in a file", flags_.solver);
    return Ok();
  }
  const std::string path = NetworkPath(solver_, flags_.solver);
  network_ = TENCH_TRY(OpenCaffeJob(path, solver_.state, flags_.data, synthetic, flags_.solver));
  tests_ = TENCH_TRY(OpenCaffeTests(solver_, flags_.solver, synthetic));
  return Ok();
}

std::vector<int64_t> SolverTraining::SnapshotIterations() const {
  std::vector<int64_t> iterations;
  for (int64_t at = solver_.snapshot; solver_.snapshot > 0 && at <= solver_.max_iterations;
       at += solver_.snapshot)
    iterations.push_back(at);
  if (solver_.snapshot_after_train &&
      (iterations.empty() || iterations.back() != solver_.max_iterations))
    iterations.push_back(solver_.max_iterations);
  std::erase_if(iterations, [&](int64_t at) { return at <= first_; });
  return iterations;
}

Status SolverTraining::MakeJob() {
  job_.network = network_.network.graph;
  job_.batch = flags_.batch > 0 ? flags_.batch : network_.network.batch;
  if (job_.batch == 0) return Failed("the network's file has no batch size; use --batch");
  const int64_t cpus = static_cast<int64_t>(AllowedCpus().size());
  job_.threads = flags_.threads > 0 ? flags_.threads : cpus;
  job_.seed = static_cast<uint64_t>(solver_.random_seed.value_or(1));
  job_.data = network_.data;
  job_.cycled = flags_.images > 0 || !job_.data.empty();
  job_.images = flags_.images;
  job_.solver = solver_.solver;
  job_.first_step = first_;
  const std::vector<double> rates = solver_.rate.Schedule(solver_.max_iterations);
  const auto passed = std::min(rates.size(), static_cast<size_t>(first_));
  job_.lr_schedule.assign(rates.begin() + static_cast<std::ptrdiff_t>(passed), rates.end());
  // The last rate of a schedule continues.
  if (job_.lr_schedule.empty() && !rates.empty()) job_.lr_schedule = {rates.back()};
  // Caffe also logs the loss after the last update, from one more forward pass.
  const bool last_loss = solver_.display > 0 && solver_.max_iterations % solver_.display == 0;
  job_.budget.warmup_steps = 0;
  job_.budget.fixed_steps = solver_.max_iterations - first_ + (last_loss ? 1 : 0);
  snapshots_ = SnapshotIterations();
  std::vector<int64_t> after = snapshots_;
  for (int64_t at = solver_.test_interval; !tests_.empty() && at <= solver_.max_iterations;
       at += solver_.test_interval) {
    if (at > first_) after.push_back(at);
  }
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  for (int64_t& at : after) at -= first_;
  job_.snapshots.after = std::move(after);
  TENCH_TRY(Infer(job_.network, job_.batch));
  return Ok();
}

// Checked before the training, because a failure afterwards would cost hours.
Status CheckPrefix(const std::string& prefix) {
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  const std::string text = folder.empty() ? "." : folder.string();
  if (access(text.c_str(), W_OK | X_OK) == 0) return Ok();
  return Failed("snapshots cannot be written to '{}': {}", text, std::strerror(errno));
}

Status SolverTraining::LoadWeights() {
  folder_.emplace(TENCH_TRY(TemporaryFolder::Make("tench-weights-")));
  if (!flags_.snapshot.empty()) {
    ResumedTraining resumed =
        TENCH_TRY(ResumeTraining(flags_.snapshot, solver_, network_.network, folder_->path()));
    for (const std::string& note : resumed.notes) Note(note);
    first_ = resumed.iteration;
    job_.tensors.load = std::move(resumed.load);
    return Ok();
  }
  weights_ = flags_.weights.empty() ? solver_.weights : Split(flags_.weights, ',');
  for (const std::string& file : weights_) {
    const WeightFiles files = TENCH_TRY(
        UnpackWeights(file, network_.network.graph, network_.network.names, folder_->path()));
    for (const std::string& note : files.notes) Note(note);
    for (const auto& [name, path] : files.load) job_.tensors.load[name] = path;
  }
  return Ok();
}

Status SolverTraining::Open() {
  solver_ = TENCH_TRY(ReadSolverFile(flags_.solver));
  if (flags_.iterations > 0)
    solver_.max_iterations = solver_.rate.max_iterations = flags_.iterations;
  TENCH_TRY(OpenNetwork());
  worker_ = WorkerName::Of(flags_.worker);
  entry_ = TENCH_TRY(workers_.Find(worker_.name));
  TENCH_TRY(LoadWeights());
  TENCH_TRY(MakeJob());
  if (!snapshots_.empty()) TENCH_TRY(CheckPrefix(solver_.snapshot_prefix));
  for (const std::string& note : solver_.notes) Note(note);
  for (const std::string& note : network_.network.notes) Note(note);
  if (!job_.data.empty()) {
    Note("the data is " + job_.data);
  } else {
    Note(flags_.images > 0
             ? fmt::format("the data is synthetic: {} samples in the shape of the network's inputs",
                           flags_.images)
             : "the data is synthetic: one batch in the shape of the network's inputs (--images "
               "cycles through more)");
  }
  log_.emplace(solver_, network_.network.graph,
               [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  return Ok();
}

Status SolverTraining::Test(int64_t iteration, const std::map<std::string, std::string>& load) {
  for (size_t i = 0; i < tests_.size(); ++i) {
    ForwardPass base;
    base.worker = entry_;
    base.version = worker_.version;
    base.job = job_;
    base.job.tensors.load = load;
    if (!tests_[i].job.data.empty()) base.job.images = 0;
    log_->Testing(iteration, i);
    log_->TestResult(i, TENCH_TRY(RunCaffeTest(tests_[i], std::move(base), interrupt_.stop())));
  }
  return Ok();
}

Status SolverTraining::OnSnapshot(int64_t iteration, const std::filesystem::path& raw) {
  if (iteration == first_ || iteration > solver_.max_iterations) return Ok();
  // Besides the planned snapshots there is one when the training is interrupted.
  const bool planned = std::ranges::binary_search(snapshots_, iteration);
  if (planned || !TestsAt(iteration) || interrupt_.stop().stop_requested()) {
    const SnapshotFiles files = SnapshotFilesOf(solver_.snapshot_prefix, iteration);
    log_->Snapshot(files.model);
    Status kept = KeepSnapshot(files, iteration, solver_, network_.network, raw);
    snapshot_failed_ = !kept.ok();
    TENCH_TRY(std::move(kept));
    log_->SnapshotState(files.state);
  }
  if (!TestsAt(iteration) || interrupt_.stop().stop_requested()) return Ok();
  std::map<std::string, std::string> load;
  const TypedGraph typed = TENCH_TRY(Infer(network_.network.graph, 1));
  for (const Parameter& parameter : typed.parameters)
    load[parameter.name] =
        TensorPath(raw, parameter.trained ? "parameters" : "state", parameter.name).string();
  return Test(iteration, load);
}

Result<int> SolverTraining::Run() {
  log_->Facts(worker_.name, job_);
  if (first_ > 0) log_->Resuming(flags_.snapshot);
  for (const std::string& file : weights_) log_->Weights(file);
  if (TestsAt(first_) && (first_ > 0 || solver_.test_initialization))
    TENCH_TRY(Test(first_, job_.tensors.load));
  TrainingEvents events;
  events.on_hello = [&](const Hello&) -> Status { return log_->Start(), Ok(); };
  events.on_steps = [&](const Steps& steps) -> Status {
    for (size_t i = 0; i < steps.loss.size(); ++i)
      log_->Step(first_ + steps.first + static_cast<int64_t>(i), steps.step_ns[i], steps.loss[i]);
    return Ok();
  };
  events.on_snapshot = [&](int64_t steps, const std::filesystem::path& from) {
    return OnSnapshot(first_ + steps, from);
  };
  const Result<TrainingEnd> end = Train(*entry_, worker_.version, job_, events, interrupt_.stop());
  if (!end.ok()) {
    FailProgram(end.error().message);
    return snapshot_failed_ ? kExitBadInput : kExitFailedRuns;
  }
  log_->Done(*end == TrainingEnd::kComplete);
  return *end == TrainingEnd::kComplete ? kExitOk : kExitInterrupted;
}

Result<int> TrainSolver(const TrainFlags& flags) {
  SolverTraining training(flags);
  TENCH_TRY(training.Open());
  return training.Run();
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
  app->add_option("--snapshot", flags->snapshot,
                  "continue the training of this .solverstate, with the weights it names")
      ->type_name("")
      ->excludes("--weights");
  app->add_option("--data", flags->data,
                  "data instead of the data layer's, such as lmdb:PATH (docs/data.md)")
      ->type_name("");
  app->add_option("--batch", flags->batch, "batch size [the network file's]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20).description(""));
  app->add_option("--threads", flags->threads, "threads [all CPUs]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}).description(""));
  app->add_option("--images", flags->images,
                  "number of synthetic samples; with --data, of its samples")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40).description(""));
  app->add_option("--max-iter", flags->iterations, "iterations [the solver file's]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31).description(""));
  app->footer(
      "The log has Caffe's format and goes to standard error. Snapshots are\n"
      "PREFIX_iter_N.caffemodel and .solverstate; Ctrl-C writes a last one and stops.\n"
      "Exit code: 0 trained, 4 the worker failed, 2 bad input, 130 interrupted.");
  return {app, [flags] { return TrainSolver(*flags); }};
}

}  // namespace tench
