// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/timed_run.h"

#include <algorithm>

#include "logs/caffe_line.h"

namespace tench::caffe_worker {
namespace {

// More iterations than any run needs; the process is ended after enough steps.
constexpr int64_t kWithoutEnd = 2'000'000'000;

std::string Flag(std::string_view name, const std::string& value) {
  return fmt::format("--{}={}", name, value);
}

NetForm FormOf(const BuildOptions& options) {
  NetForm form;
  form.dropout = options.dropout;
  return form;
}

// The flag for initial weights or for a training state to resume.
std::string FromFlag(const std::string& from) {
  return Flag(from.ends_with(".solverstate") ? "snapshot" : "weights", from);
}

// The weighted loss in a line of `caffe test`; nullopt for any other score.
std::optional<double> ScoredLoss(const std::vector<LossBlob>& losses, const CaffeLine& line) {
  if (line.kind != CaffeLine::Kind::kScore) return std::nullopt;
  const auto found = std::find_if(losses.begin(), losses.end(),
                                  [&](const LossBlob& loss) { return loss.blob == line.text; });
  return found == losses.end() ? std::nullopt : std::optional(line.value * found->weight);
}

// The training loss of these weights without dropout, which is the loss of every gradient step.
Result<double> LossOfWeights(const Workshop& workshop, const TypedGraph& graph,
                             const std::string& weights) {
  NetForm form;
  form.dropout = false;
  form.as_training = true;
  const NetText net = TENCH_TRY(workshop.PutNet(graph, form));
  CaffeProcess process = TENCH_TRY(workshop.Start(
      {"test", Flag("model", kNetFile), Flag("weights", weights), "--iterations=1"}));
  double loss = 0;
  size_t scores = 0;
  while (const std::optional<std::string_view> text = TENCH_TRY(process.ReadLine())) {
    const std::optional<CaffeLine> line = TENCH_TRY(ParseCaffeLine(*text));
    const std::optional<double> scored = line ? ScoredLoss(net.losses, *line) : std::nullopt;
    loss += scored.value_or(0);
    scores += scored ? 1 : 0;
  }
  TENCH_TRY(process.Finish());
  if (scores != net.losses.size())
    return Failed("caffe test: {} scores where the network has {} losses", scores,
                  net.losses.size());
  return loss;
}

std::optional<int64_t> ElapsedNs(const GlogTime& from, const GlogTime& to) {
  const int64_t us = ElapsedUs(from, to);
  return us < 0 ? std::nullopt : std::optional(us * 1000);
}

}  // namespace

std::string_view StepSource(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "caffe test: the time between the log stamps of two batches' scores";
    case Phase::kGradient:
      return "caffe time: the time between the log stamps of two iteration lines; weights from "
             "Caffe's fillers, the "
             "loss computed once before";
    case Phase::kTrain:
      break;
  }
  return "caffe train: the time between the log stamps of two iteration lines";
}

Result<TimedRun> TimedRun::Start(const Workshop& workshop, const TypedGraph& graph,
                                 const BuildOptions& options, double lr, const std::string& from) {
  double gradient_loss = 0;
  if (options.phase == Phase::kGradient)
    gradient_loss = TENCH_TRY(LossOfWeights(workshop, graph, from));
  const NetText net = TENCH_TRY(workshop.PutNet(graph, FormOf(options)));
  std::vector<std::string> arguments;
  std::string_view begin;
  switch (options.phase) {
    case Phase::kTrain: {
      SolverText solver{options.solver, options.seed, kWithoutEnd, 1, ""};
      solver.solver.lr = lr;
      TENCH_TRY(workshop.PutSolver(solver));
      arguments = {"train", Flag("solver", kSolverFile), FromFlag(from)};
      begin = "Starting Optimization";
      break;
    }
    case Phase::kForward:
      arguments = {"test", Flag("model", kNetFile), FromFlag(from),
                   Flag("iterations", std::to_string(kWithoutEnd))};
      begin = "Running for ";
      break;
    case Phase::kGradient:
      arguments = {"time", Flag("model", kNetFile),
                   Flag("iterations", std::to_string(kWithoutEnd))};
      begin = "*** Benchmark begins ***";
      break;
  }
  TimedRun run(TENCH_TRY(workshop.Start(std::move(arguments))), options.phase, net.losses);
  run.gradient_loss_ = gradient_loss;
  TENCH_TRY(run.process_.ReadUntil(begin));
  return run;
}

Result<std::string> Replay(const Workshop& workshop, const TypedGraph& graph,
                           const BuildOptions& options, double lr, const std::string& from,
                           int64_t done, int64_t steps) {
  TENCH_TRY(workshop.PutNet(graph, FormOf(options)));
  SolverText solver{options.solver, options.seed, done + steps, 0, "replay"};
  solver.solver.lr = lr;
  TENCH_TRY(workshop.PutSolver(solver));
  CaffeProcess process =
      TENCH_TRY(workshop.Start({"train", Flag("solver", kSolverFile), FromFlag(from)}));
  TENCH_TRY(process.Finish());
  return fmt::format("replay_iter_{}.solverstate", done + steps);
}

Result<double> TimedRun::Step() {
  for (;;) {
    const std::optional<std::string_view> line = TENCH_TRY(process_.ReadLine());
    if (!line) return process_.Failure();
    const std::optional<CaffeLine> parsed = TENCH_TRY(ParseCaffeLine(*line));
    if (!parsed) continue;
    const std::optional<double> loss = LossIn(*parsed);
    if (!loss) continue;
    last_step_ns_ = end_ ? ElapsedNs(*end_, parsed->time) : std::nullopt;
    end_ = parsed->time;
    return *loss;
  }
}

// nullopt unless the line ends a step.
std::optional<double> TimedRun::LossIn(const CaffeLine& line) {
  switch (line.kind) {
    case CaffeLine::Kind::kBareIteration:  // as older versions write it
    case CaffeLine::Kind::kIteration:
      return phase_ == Phase::kTrain ? std::optional(line.value) : std::nullopt;
    case CaffeLine::Kind::kTimed:
      return phase_ == Phase::kGradient ? std::optional(gradient_loss_) : std::nullopt;
    case CaffeLine::Kind::kScore: {
      const std::optional<double> scored =
          phase_ == Phase::kForward ? ScoredLoss(losses_, line) : std::nullopt;
      if (!scored) return std::optional<double>();
      scored_ += *scored;
      if (++scores_ < losses_.size()) return std::optional<double>();
      scores_ = 0;
      return std::optional(std::exchange(scored_, 0));
    }
    default:
      return std::optional<double>();
  }
}

}  // namespace tench::caffe_worker
