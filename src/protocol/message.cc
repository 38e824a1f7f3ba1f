// SPDX-License-Identifier: Apache-2.0
#include "protocol/message.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "protocol/version.h"

namespace tench {
namespace {

// Large enough for any step, small enough that thousands of them can be summed in 64 bits.
constexpr int64_t kMaxStepNs = 1'000'000'000'000'000;
// Numbers in every language represent integers up to this exactly.
constexpr int64_t kMaxCount = int64_t{1} << 53;

constexpr std::array<std::string_view, 3> kFailureKinds = {"failed", "unsupported",
                                                           "out_of_memory"};

Json ToJson(const Hello& hello) {
  return {{"type", "hello"},
          {"worker", ToJson(hello.worker)},
          {"libraries", hello.libraries},
          {"flush_to_zero", hello.flush_to_zero.empty() ? "unknown" : hello.flush_to_zero},
          {"rss_bytes", hello.rss_bytes}};
}

Json ToJson(const Built& built) {
  Json json = {{"type", "build"},
               {"build_ns", built.build_ns},
               {"peak_rss_bytes", built.peak_rss_bytes},
               {"planned_bytes", built.planned_bytes},
               {"choices", built.choices}};
  if (!built.frozen.empty()) json["frozen"] = built.frozen;
  if (built.gradients_materialized) json["gradients_materialized"] = true;
  return json;
}

Json ToJson(const Steps& steps) {
  Json loss = Json::array();
  for (const double value : steps.loss) loss.push_back(RealToJson(value));
  Json json = {{"type", "steps"},
               {"first", steps.first},
               {"warmup", steps.warmup},
               {"step_ns", steps.step_ns}};
  if (!steps.input_ns.empty()) json["input_ns"] = steps.input_ns;
  json["loss"] = std::move(loss);
  if (steps.compilations > 0) json["compilations"] = steps.compilations;
  return json;
}

Json ToJson(const Evaluation& evaluation) {
  Json json = {{"type", "evaluation"},
               {"step", evaluation.step},
               {"samples", evaluation.samples},
               {"eval_ns", evaluation.eval_ns},
               {"loss", RealToJson(evaluation.loss)}};
  if (evaluation.top1) json["top1"] = *evaluation.top1;
  if (evaluation.top5) json["top5"] = *evaluation.top5;
  return json;
}

Json ToJson(const Done& done) {
  Json json = {{"type", "result"},
               {"converged", done.converged},
               {"peak_rss_bytes", done.peak_rss_bytes},
               {"cpu_ns", done.cpu_ns},
               {"wall_ns", done.wall_ns}};
  if (!done.flush_to_zero.empty()) json["flush_to_zero"] = done.flush_to_zero;
  if (done.loaded_samples > 0) {
    json["loaded_samples"] = done.loaded_samples;
    json["loading_ns"] = done.loading_ns;
  }
  for (const ProfileRow& row : done.profile) {
    json["profile"].push_back({{"layer", row.layer},
                               {"direction", row.direction},
                               {"kernel", row.kernel},
                               {"calls", row.calls},
                               {"time_ns", row.time_ns},
                               {"flops", row.flops},
                               {"bytes", row.bytes}});
  }
  return json;
}

Json ToJson(const Ready&) { return {{"type", "ready"}}; }

Json ToJson(const Failure& failure) {
  return {{"type", "error"},
          {"kind", kFailureKinds[static_cast<size_t>(failure.kind)]},
          {"message", failure.message}};
}

Result<WorkerOption> OptionFromJson(const Json& json, std::string path) {
  Fields fields(json, std::move(path));
  fields.AllowUnknown();
  WorkerOption option;
  option.name = fields.String("name");
  option.help = fields.String("help", "");
  option.fallback = fields.String("default", "");
  option.choices = fields.Strings("choices", {});
  if (option.name.empty()) fields.Fail("name", "is empty");
  TENCH_TRY(fields.Finish());
  return option;
}

Result<TuningCandidate> CandidateFromJson(const Json& json, std::string path) {
  Fields fields(json, std::move(path));
  fields.AllowUnknown();
  TuningCandidate candidate;
  candidate.options = fields.StringMap("options", {});
  candidate.environment = fields.StringMap("environment", {});
  candidate.phases = fields.Strings("phases", {});
  candidate.ops = fields.Strings("ops", {});
  if (candidate.options.empty() && candidate.environment.empty())
    fields.Fail("options", "and 'environment' are both empty");
  for (const std::string& phase : candidate.phases) {
    if (const auto known = ParsePhase(phase); !known.ok())
      fields.Fail("phases", known.error().message);
  }
  TENCH_TRY(fields.Finish());
  return candidate;
}

Result<Description> DescriptionFromJson(const Json& json, const std::string& path) {
  Fields fields(json, path);
  fields.AllowUnknown();
  TENCH_TRY(CheckProtocolVersion(fields));
  Description description;
  description.name = fields.String("name");
  if (description.name.empty()) fields.Fail("name", "is empty");
  description.version = fields.String("version");
  const Result<Role> role = ParseRole(fields.String("role", Name(Role::kFramework)));
  if (role.ok()) {
    description.role = *role;
  } else {
    fields.Fail("role", role.error().message);
  }
  description.ops = fields.Strings("ops");
  description.updates = fields.Strings("updates", description.updates);
  description.devices = fields.Strings("devices");
  description.precisions = fields.Strings("precisions");
  description.facts = fields.StringMap("facts", {});
  description.turns = fields.Bool("turns", false);
  if (fields.Has("options")) {
    for (const Json& item : fields.Array("options")) {
      const size_t index = description.options.size();
      description.options.push_back(
          TENCH_TRY(OptionFromJson(item, fmt::format("{}.options[{}]", path, index))));
    }
  }
  if (fields.Has("tuning")) {
    for (const Json& item : fields.Array("tuning")) {
      const size_t index = description.tuning.size();
      description.tuning.push_back(
          TENCH_TRY(CandidateFromJson(item, fmt::format("{}.tuning[{}]", path, index))));
    }
  }
  TENCH_TRY(fields.Finish());
  return description;
}

Result<Message> HelloFromJson(const Json& json) {
  Fields fields(json, "hello");
  fields.AllowUnknown();
  Hello hello;
  const Json& worker = fields.Object("worker");
  hello.libraries = fields.Strings("libraries", {});
  hello.flush_to_zero = fields.String("flush_to_zero", "unknown");
  if (hello.flush_to_zero != "on" && hello.flush_to_zero != "off" &&
      hello.flush_to_zero != "unknown")
    fields.Fail("flush_to_zero", fmt::format("must be on, off or unknown, not '{}'",
                                             Printable(hello.flush_to_zero, 60)));
  hello.rss_bytes = fields.Integer("rss_bytes", 0, kMaxCount, 0);
  TENCH_TRY(fields.Finish());
  hello.worker = TENCH_TRY(DescriptionFromJson(worker, "hello.worker"));
  return Message(std::move(hello));
}

Result<Message> BuiltFromJson(const Json& json) {
  Fields fields(json, "build");
  fields.AllowUnknown();
  Built built;
  built.build_ns = fields.Integer("build_ns", 0, kMaxStepNs);
  built.peak_rss_bytes = fields.Integer("peak_rss_bytes", 0, kMaxCount, 0);
  built.planned_bytes = fields.Integer("planned_bytes", 0, kMaxCount, 0);
  built.choices = fields.StringMap("choices", {});
  built.frozen = fields.StringMap("frozen", {});
  built.gradients_materialized = fields.Bool("gradients_materialized", false);
  TENCH_TRY(fields.Finish());
  return Message(std::move(built));
}

Result<Message> StepsFromJson(const Json& json) {
  Fields fields(json, "steps");
  fields.AllowUnknown();
  Steps steps;
  steps.first = fields.Integer("first", 0, kMaxCount);
  steps.warmup = fields.Bool("warmup", false);
  steps.step_ns = fields.Integers("step_ns", 0, kMaxStepNs);
  steps.loss = fields.Reals("loss");
  steps.compilations = fields.Integer("compilations", 0, kMaxCount, 0);
  if (fields.Has("input_ns")) steps.input_ns = fields.Integers("input_ns", 0, kMaxStepNs);
  if (steps.loss.size() != steps.step_ns.size())
    fields.Fail("loss",
                fmt::format("has {} values for {} steps", steps.loss.size(), steps.step_ns.size()));
  if (!steps.input_ns.empty() && steps.input_ns.size() != steps.step_ns.size())
    fields.Fail("input_ns", fmt::format("has {} values for {} steps", steps.input_ns.size(),
                                        steps.step_ns.size()));
  TENCH_TRY(fields.Finish());
  return Message(std::move(steps));
}

Result<Message> EvaluationFromJson(const Json& json) {
  Fields fields(json, "evaluation");
  fields.AllowUnknown();
  Evaluation evaluation;
  evaluation.step = fields.Integer("step", 0, kMaxCount);
  evaluation.samples = fields.Integer("samples", 1, kMaxCount);
  evaluation.eval_ns = fields.Integer("eval_ns", 0, kMaxStepNs, 0);
  evaluation.loss = fields.Real("loss");
  for (const auto& [key, share] :
       {std::pair("top1", &evaluation.top1), std::pair("top5", &evaluation.top5)}) {
    if (!fields.Has(key)) continue;
    *share = fields.Real(key);
    if (!(**share >= 0 && **share <= 1)) fields.Fail(key, "must be a share from 0 to 1");
  }
  TENCH_TRY(fields.Finish());
  return Message(evaluation);
}

Result<ProfileRow> ProfileRowFromJson(const Json& json, std::string path) {
  Fields fields(json, std::move(path));
  fields.AllowUnknown();
  ProfileRow row;
  row.layer = fields.String("layer");
  row.direction = fields.String("direction");
  row.kernel = fields.String("kernel", "");
  row.calls = fields.Integer("calls", 0, kMaxCount);
  row.time_ns = fields.Integer("time_ns", 0, kMaxCount);
  row.flops = fields.Integer("flops", 0, std::numeric_limits<int64_t>::max(), 0);
  row.bytes = fields.Integer("bytes", 0, std::numeric_limits<int64_t>::max(), 0);
  TENCH_TRY(fields.Finish());
  return row;
}

Result<Message> DoneFromJson(const Json& json) {
  Fields fields(json, "result");
  fields.AllowUnknown();
  Done done;
  done.converged = fields.Bool("converged");
  done.peak_rss_bytes = fields.Integer("peak_rss_bytes", 0, kMaxCount, 0);
  done.cpu_ns = fields.Integer("cpu_ns", 0, kMaxCount, 0);
  done.wall_ns = fields.Integer("wall_ns", 0, kMaxCount, 0);
  done.loaded_samples = fields.Integer("loaded_samples", 0, kMaxCount, 0);
  done.loading_ns = fields.Integer("loading_ns", 0, kMaxCount, 0);
  done.flush_to_zero = fields.String("flush_to_zero", "");
  static const std::array<std::string_view, 4> kModes = {"", "on", "off", "mixed"};
  if (std::find(kModes.begin(), kModes.end(), done.flush_to_zero) == kModes.end())
    fields.Fail("flush_to_zero", fmt::format("must be on, off or mixed, not '{}'",
                                             Printable(done.flush_to_zero, 60)));
  if (fields.Has("profile")) {
    for (const Json& item : fields.Array("profile")) {
      const size_t index = done.profile.size();
      done.profile.push_back(
          TENCH_TRY(ProfileRowFromJson(item, fmt::format("result.profile[{}]", index))));
    }
  }
  TENCH_TRY(fields.Finish());
  return Message(std::move(done));
}

Result<Message> FailureFromJson(const Json& json) {
  Fields fields(json, "error");
  fields.AllowUnknown();
  Failure failure;
  const std::string kind = fields.String("kind", "failed");
  const auto found = std::find(kFailureKinds.begin(), kFailureKinds.end(), kind);
  if (found == kFailureKinds.end())
    fields.Fail("kind", fmt::format("must be failed, unsupported or out_of_memory, not '{}'",
                                    Printable(kind, 60)));
  else
    failure.kind = static_cast<ErrorKind>(found - kFailureKinds.begin());
  failure.message = fields.String("message");
  TENCH_TRY(fields.Finish());
  return Message(std::move(failure));
}

}  // namespace

std::string ToLine(const Message& message) {
  return PrintJson(
      std::visit([](const auto& alternative) { return ToJson(alternative); }, message));
}

Result<Message> ParseMessage(std::string_view line) {
  if (line.size() > kMaxLineBytes)
    return Failed("message: a line of {} bytes, {} are allowed", line.size(), kMaxLineBytes);
  const Json json = TENCH_TRY(ParseJson(line, "message"));
  Fields fields(json, "message");
  fields.AllowUnknown();
  const std::string type = fields.String("type");
  TENCH_TRY(fields.Finish());
  if (type == "hello") return HelloFromJson(json);
  if (type == "build") return BuiltFromJson(json);
  if (type == "steps") return StepsFromJson(json);
  if (type == "ready") return Message(Ready{});
  if (type == "evaluation") return EvaluationFromJson(json);
  if (type == "result") return DoneFromJson(json);
  if (type == "error") return FailureFromJson(json);
  const std::vector<std::string> types = {"hello",      "build",  "steps", "ready",
                                          "evaluation", "result", "error"};
  return Failed("message.type: unknown type '{}'{}", Printable(type, 60), Hint(type, types));
}

std::string TurnLine(const Turn& turn) {
  return PrintJson({{"type", "go"}, {"warmup_steps", turn.warmup_steps}, {"steps", turn.steps}});
}

Result<Turn> ParseTurn(std::string_view line) {
  const Json json = TENCH_TRY(ParseJson(line, "turn"));
  Fields fields(json, "turn");
  fields.AllowUnknown();
  if (const std::string type = fields.String("type"); type != "go")
    fields.Fail("type", fmt::format("must be go, not '{}'", Printable(type, 60)));
  Turn turn;
  turn.warmup_steps = fields.Integer("warmup_steps", 0, kMaxCount);
  turn.steps = fields.Integer("steps", 1, kMaxCount);
  TENCH_TRY(fields.Finish());
  return turn;
}

Json ToJson(const Description& description) {
  Json options = Json::array();
  for (const WorkerOption& option : description.options)
    options.push_back({{"name", option.name},
                       {"help", option.help},
                       {"default", option.fallback},
                       {"choices", option.choices}});
  Json tuning = Json::array();
  for (const TuningCandidate& candidate : description.tuning) {
    Json json = Json::object();
    if (!candidate.options.empty()) json["options"] = candidate.options;
    if (!candidate.environment.empty()) json["environment"] = candidate.environment;
    if (!candidate.phases.empty()) json["phases"] = candidate.phases;
    if (!candidate.ops.empty()) json["ops"] = candidate.ops;
    tuning.push_back(std::move(json));
  }
  Json json = {{"protocol", description.protocol}, {"name", description.name},
               {"version", description.version},   {"role", Name(description.role)},
               {"ops", description.ops},           {"updates", description.updates},
               {"devices", description.devices},   {"precisions", description.precisions},
               {"options", std::move(options)},    {"tuning", std::move(tuning)},
               {"facts", description.facts}};
  if (description.turns) json["turns"] = true;
  return json;
}

Result<Description> ParseDescription(std::string_view text, std::string_view origin) {
  const Json json = TENCH_TRY(ParseJson(text, origin));
  return DescriptionFromJson(json, "description").In(origin);
}

}  // namespace tench
