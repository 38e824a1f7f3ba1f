// SPDX-License-Identifier: Apache-2.0
// The JSON form of a job. All fields and the parameters' shapes are written, so that workers in
// other languages need no defaults. When reading, only the protocol, the network and the batch are
// required. An unknown key is an error: ignoring it would measure something else than requested.

#include <algorithm>
#include <cmath>

#include "axis/axis.h"
#include "axis/optimizer_name.h"
#include "base/text.h"
#include "net/graph_json.h"
#include "protocol/message.h"
#include "protocol/version.h"

namespace tench {
namespace {

constexpr int64_t kMaxSteps = 1'000'000'000'000;
constexpr int64_t kMaxIterSize = int64_t{1} << 20;
constexpr int64_t kMaxSearchNs = int64_t{365} * 24 * 3600 * 1'000'000'000;
constexpr int64_t kMaxBudgetNs = 1'000'000'000'000'000'000;

// Keys beyond plain SGD are written only if used, so that a worker with SGD alone need not know
// them.
Json SolverToJson(const Solver& solver) {
  Json json = {{"lr", RealToJson(solver.lr)},
               {"momentum", RealToJson(solver.momentum)},
               {"weight_decay", RealToJson(solver.weight_decay)}};
  if (solver.type != SolverType::kSgd) json["type"] = Name(solver.type);
  if (solver.type == SolverType::kAdam) json["momentum2"] = RealToJson(solver.momentum2);
  if (solver.type == SolverType::kRmsprop) json["rms_decay"] = RealToJson(solver.rms_decay);
  if (UsesDelta(solver.type)) json["delta"] = RealToJson(solver.delta);
  if (solver.clip_gradients > 0) json["clip_gradients"] = RealToJson(solver.clip_gradients);
  if (solver.regularization == Regularization::kL1) json["regularization"] = "l1";
  if (solver.iter_size > 1) json["iter_size"] = solver.iter_size;
  return json;
}

Json BudgetToJson(const Budget& budget) {
  return {{"warmup_steps", budget.warmup_steps},
          {"fixed_steps", budget.fixed_steps},
          {"epochs", budget.epochs},
          {"min_steps", budget.min_steps},
          {"min_time_ns", budget.min_time_ns},
          {"relative_interval", RealToJson(budget.relative_interval)},
          {"time_limit_ns", budget.time_limit_ns}};
}

// `observe` is written only if it is false, as keys beyond plain SGD are.
Json TensorsToJson(const TensorFiles& tensors) {
  Json json = {{"load", tensors.load},
               {"folder", tensors.folder},
               {"outputs", tensors.outputs},
               {"gradients", tensors.gradients},
               {"parameters", tensors.parameters},
               {"state", tensors.state}};
  if (!tensors.observe) json["observe"] = false;
  if (tensors.every_step) json["every_step"] = true;
  return json;
}

// The bounds come from the axis of that name.
std::string AxisText(Fields& fields, std::string_view key, AxisIndex axis, std::string fallback) {
  std::string text = fields.String(key, std::move(fallback));
  const auto value = Axes()[axis].Parse(text);
  if (value.ok()) return std::get<std::string>(*value);
  fields.Fail(key, value.error().message);
  return text;
}

double BoundedReal(Fields& fields, std::string_view key, double low, double high, double fallback) {
  const double value = fields.Real(key, fallback);
  if (!(value >= low && value <= high))
    fields.Fail(key, fmt::format("must be a number from {} to {}, not {}", low, high, value));
  return value;
}

double AxisReal(Fields& fields, std::string_view key, AxisIndex axis, double fallback) {
  return BoundedReal(fields, key, Axes()[axis].low, Axes()[axis].high, fallback);
}

int64_t AxisHigh(AxisIndex axis) { return static_cast<int64_t>(Axes()[axis].high); }

Result<Solver> ParseSolver(const Json& json) {
  Fields fields(json, "job.solver");
  Solver solver;
  solver.lr = AxisReal(fields, "lr", kAxisLr, solver.lr);
  solver.momentum = AxisReal(fields, "momentum", kAxisMomentum, solver.momentum);
  solver.weight_decay = AxisReal(fields, "weight_decay", kAxisWeightDecay, solver.weight_decay);
  const std::vector<std::string>& types = SolverTypeNames();
  const std::string type = fields.String("type", std::string(Name(solver.type)));
  if (const auto found = std::ranges::find(types, type); found != types.end())
    solver.type = static_cast<SolverType>(found - types.begin());
  else
    fields.Fail("type", fmt::format("'{}' is none of {}{}", Printable(type), Join(types, ", "),
                                    Hint(type, types)));
  solver.momentum2 = BoundedReal(fields, "momentum2", 0, 1, solver.momentum2);
  solver.delta = BoundedReal(fields, "delta", kMinOptimizerDelta, 1, solver.delta);
  solver.clip_gradients =
      BoundedReal(fields, "clip_gradients", 0, kMaxGradientClip, solver.clip_gradients);
  solver.rms_decay = BoundedReal(fields, "rms_decay", 0, 1, solver.rms_decay);
  const std::string regularization = fields.String("regularization", "l2");
  if (regularization == "l1")
    solver.regularization = Regularization::kL1;
  else if (regularization != "l2")
    fields.Fail("regularization", fmt::format("'{}' is none of l2, l1", Printable(regularization)));
  solver.iter_size = fields.Integer("iter_size", 1, kMaxIterSize, solver.iter_size);
  TENCH_TRY(fields.Finish());
  return solver;
}

Result<Budget> ParseBudget(const Json& json) {
  Fields fields(json, "job.budget");
  Budget budget;
  budget.warmup_steps = fields.Integer("warmup_steps", 0, kMaxSteps, budget.warmup_steps);
  budget.fixed_steps = fields.Integer("fixed_steps", 0, kMaxSteps, budget.fixed_steps);
  budget.epochs = fields.Integer("epochs", 0, kMaxSteps, budget.epochs);
  budget.min_steps = fields.Integer("min_steps", 0, kMaxSteps, budget.min_steps);
  budget.min_time_ns = fields.Integer("min_time_ns", 0, kMaxBudgetNs, budget.min_time_ns);
  budget.relative_interval =
      BoundedReal(fields, "relative_interval", 0, 1, budget.relative_interval);
  budget.time_limit_ns = fields.Integer("time_limit_ns", 0, kMaxBudgetNs, budget.time_limit_ns);
  TENCH_TRY(fields.Finish());
  return budget;
}

Result<TensorFiles> ParseTensors(const Json& json) {
  Fields fields(json, "job.tensors");
  TensorFiles tensors;
  tensors.load = fields.StringMap("load", {});
  tensors.folder = fields.String("folder", "");
  tensors.outputs = fields.Strings("outputs", {});
  tensors.gradients = fields.Bool("gradients", false);
  tensors.parameters = fields.Bool("parameters", false);
  tensors.state = fields.Bool("state", false);
  tensors.observe = fields.Bool("observe", true);
  tensors.every_step = fields.Bool("every_step", false);
  TENCH_TRY(fields.Finish());
  return tensors;
}

Result<Snapshots> ParseSnapshots(const Json& json) {
  Fields fields(json, "job.snapshots");
  Snapshots snapshots;
  snapshots.folder = fields.String("folder");
  snapshots.after = fields.Integers("after", 1, kMaxSteps);
  if (snapshots.folder.empty()) fields.Fail("folder", "is empty");
  if (!std::is_sorted(snapshots.after.begin(), snapshots.after.end()))
    fields.Fail("after", "must increase");
  TENCH_TRY(fields.Finish());
  return snapshots;
}

Result<TraceRequest> ParseTrace(const Json& json) {
  Fields fields(json, "job.trace");
  TraceRequest trace;
  trace.file = fields.String("file");
  trace.first = fields.Integer("first", 1, kMaxSteps, trace.first);
  trace.last = fields.Integer("last", 1, kMaxSteps, trace.last);
  if (trace.file.empty()) fields.Fail("file", "is empty");
  if (trace.last < trace.first) fields.Fail("last", "must not be less than 'first'");
  TENCH_TRY(fields.Finish());
  return trace;
}

Result<EvaluationPlan> ParseEvaluation(const Json& json) {
  Fields fields(json, "job.evaluation");
  EvaluationPlan evaluation;
  evaluation.data = fields.String("data");
  evaluation.every = fields.Integer("every", 1, kMaxSteps, evaluation.every);
  const Result<Target> until = ParseTarget(fields.String("until", ""));
  if (evaluation.data.empty()) fields.Fail("data", "is empty");
  if (until.ok())
    evaluation.until = *until;
  else
    fields.Fail("until", until.error().message);
  TENCH_TRY(fields.Finish());
  return evaluation;
}

Json EvaluationToJson(const EvaluationPlan& evaluation) {
  Json json = {{"data", evaluation.data}, {"every", evaluation.every}};
  if (evaluation.until.any()) json["until"] = ToString(evaluation.until);
  return json;
}

void ReadPlainFields(Fields& fields, Job& job) {
  job.batch = fields.Integer("batch", 1, AxisHigh(kAxisBatch));
  job.device = AxisText(fields, "device", kAxisDevice, job.device);
  job.threads = fields.Integer("threads", 1, AxisHigh(kAxisThreads), job.threads);
  job.precision = AxisText(fields, "precision", kAxisPrecision, job.precision);
  const auto phase = ParsePhase(fields.String("phase", Name(job.phase)));
  if (phase.ok())
    job.phase = *phase;
  else
    fields.Fail("phase", phase.error().message);
  if (fields.Has("seed")) job.seed = fields.Unsigned("seed");
  job.cycled = fields.Bool("cycled", job.cycled);
  job.data_threads = fields.Integer("data_threads", 0, AxisHigh(kAxisDataThreads), 0);
  job.prefetch = fields.Integer("prefetch", 0, AxisHigh(kAxisPrefetch), job.prefetch);
  job.data = fields.String("data", "");
  job.images = fields.Integer("images", 0, AxisHigh(kAxisImages), job.images);
  job.labels = fields.Integer("labels", 0, AxisHigh(kAxisLabels), job.labels);
  if (fields.Has("lr_schedule")) job.lr_schedule = fields.Reals("lr_schedule");
  for (const double lr : job.lr_schedule)
    if (!std::isfinite(lr) || lr < 0)
      fields.Fail("lr_schedule", fmt::format("must hold finite numbers from 0 on, not {}", lr));
  job.first_step = fields.Integer("first_step", 0, kMaxSteps, job.first_step);
  job.dropout = fields.Bool("dropout", job.dropout);
  job.search_ns = fields.Integer("search_ns", 0, kMaxSearchNs, job.search_ns);
  job.profile = fields.Bool("profile", job.profile);
  job.turns = fields.Bool("turns", job.turns);
  job.options = fields.StringMap("options", {});
}

Result<Job> JobFromJson(const Json& json) {
  Fields fields(json, "job");
  TENCH_TRY(CheckProtocolVersion(fields));
  Job job;
  ReadPlainFields(fields, job);
  const Json& network = fields.Object("network");
  const std::string fingerprint = fields.String("fingerprint", "");
  if (fields.Has("parameters")) fields.Array("parameters");  // for workers without shape inference
  static const Json kNothing = Json::object();
  const Json& solver = fields.Has("solver") ? fields.Object("solver") : kNothing;
  const Json& budget = fields.Has("budget") ? fields.Object("budget") : kNothing;
  const Json& tensors = fields.Has("tensors") ? fields.Object("tensors") : kNothing;
  const bool kept = fields.Has("snapshots");
  const Json& snapshots = kept ? fields.Object("snapshots") : kNothing;
  const bool traced = fields.Has("trace");
  const Json& trace = traced ? fields.Object("trace") : kNothing;
  if (traced && !job.profile) fields.Fail("trace", "needs 'profile'");
  const bool evaluated = fields.Has("evaluation");
  const Json& evaluation = evaluated ? fields.Object("evaluation") : kNothing;
  TENCH_TRY(fields.Finish());
  job.network = TENCH_TRY(GraphFromJson(network).In("job.network"));
  job.solver = TENCH_TRY(ParseSolver(solver));
  job.budget = TENCH_TRY(ParseBudget(budget));
  job.tensors = TENCH_TRY(ParseTensors(tensors));
  if (kept) job.snapshots = TENCH_TRY(ParseSnapshots(snapshots));
  if (traced) job.trace = TENCH_TRY(ParseTrace(trace));
  if (traced) job.traced_steps = job.trace.last;
  if (evaluated) job.evaluation = TENCH_TRY(ParseEvaluation(evaluation));
  job.evaluated = evaluated;
  // The peers could have different defaults for an omitted field.
  if (const std::string ours = Fingerprint(job.network);
      !fingerprint.empty() && fingerprint != ours)
    return Failed(
        "job.fingerprint: the network has the fingerprint '{}' here, but the job says '{}'", ours,
        fingerprint);
  return job;
}

}  // namespace

Json ToJson(const Job& job) {
  Json json = {{"protocol", kProtocolVersion},
               {"network", GraphToJson(job.network)},
               {"fingerprint", Fingerprint(job.network)}};
  if (const auto typed = Infer(job.network, job.batch); typed.ok())
    json["parameters"] = ParametersToJson(*typed);
  json["batch"] = job.batch;
  json["device"] = job.device;
  json["threads"] = job.threads;
  json["precision"] = job.precision;
  json["phase"] = Name(job.phase);
  json["seed"] = job.seed;
  json["cycled"] = job.cycled;
  json["images"] = job.images;
  json["labels"] = job.labels;
  json["solver"] = SolverToJson(job.solver);
  json["lr_schedule"] = job.lr_schedule;
  json["dropout"] = job.dropout;
  json["budget"] = BudgetToJson(job.budget);
  json["options"] = job.options;
  json["tensors"] = TensorsToJson(job.tensors);
  // Written only if requested, so that a worker without them need not know the keys.
  if (job.search_ns > 0) json["search_ns"] = job.search_ns;
  if (job.first_step > 0) json["first_step"] = job.first_step;
  if (!job.data.empty()) json["data"] = job.data;
  if (job.data_threads > 0) {
    json["data_threads"] = job.data_threads;
    json["prefetch"] = job.prefetch;
  }
  if (job.evaluation.any()) json["evaluation"] = EvaluationToJson(job.evaluation);
  if (job.profile) json["profile"] = true;
  if (job.trace.any())
    json["trace"] = {
        {"file", job.trace.file}, {"first", job.trace.first}, {"last", job.trace.last}};
  if (job.turns) json["turns"] = true;
  if (job.snapshots.any())
    json["snapshots"] = {{"folder", job.snapshots.folder}, {"after", job.snapshots.after}};
  return json;
}

Result<Job> ParseJob(std::string_view text, std::string_view origin) {
  const Json json = TENCH_TRY(ParseJson(text, origin));
  return JobFromJson(json).In(origin);
}

}  // namespace tench
