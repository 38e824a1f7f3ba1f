// SPDX-License-Identifier: Apache-2.0
#include "store/run_column.h"

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "axis/axis.h"
#include "base/json.h"

namespace tench {
namespace {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
std::string TypeName() {
  if constexpr (IsOptional<T>::value) {
    return TypeName<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "TEXT";
  } else if constexpr (std::is_same_v<T, double>) {
    return "REAL";
  } else {
    static_assert(std::is_same_v<T, int64_t> || std::is_same_v<T, bool>);
    return "INTEGER";
  }
}

void Read(const Statement& statement, int column, std::string& value) {
  value = statement.Text(column);
}
void Read(const Statement& statement, int column, int64_t& value) {
  value = statement.Integer(column);
}
void Read(const Statement& statement, int column, double& value) { value = statement.Real(column); }
void Read(const Statement& statement, int column, bool& value) {
  value = statement.Integer(column) != 0;
}
template <class T>
void Read(const Statement& statement, int column, std::optional<T>& value) {
  if (statement.IsNull(column)) {
    value.reset();
  } else {
    Read(statement, column, value.emplace());
  }
}

// The substruct of a run that contains the member.
template <class Run>
auto& PartOf(Run& run, const RunRecord*) {
  return run;
}
template <class Run>
auto& PartOf(Run& run, const RunSummary*) {
  return run.summary;
}
template <class Run>
auto& PartOf(Run& run, const Budget*) {
  return run.budget;
}
template <class Run>
auto& PartOf(Run& run, const Limits*) {
  return run.limits;
}

template <class Part, class T>
RunColumn Column(std::string name, T Part::*member) {
  RunColumn column;
  column.name = std::move(name);
  column.type = TypeName<T>();
  column.fallback = IsOptional<T>::value ? "NULL" : column.type == "TEXT" ? "''" : "0";
  column.bind = [member](Statement& statement, int parameter, const RunRecord& run) {
    statement.Bind(parameter, PartOf(run, static_cast<const Part*>(nullptr)).*member);
  };
  column.read = [member](const Statement& statement, int position, RunRecord& run) {
    Read(statement, position, PartOf(run, static_cast<const Part*>(nullptr)).*member);
    return true;
  };
  return column;
}

// Runs of older files carry no number of the rules.
RunColumn RulesColumn() {
  RunColumn column = Column("rules", &RunRecord::rules);
  column.fallback = std::to_string(kUnnumberedRules);
  return column;
}

RunColumn AxisColumn(size_t index) {
  const Axis& axis = Axes()[index];
  RunColumn column;
  column.name = axis.column;
  switch (axis.kind) {
    case AxisKind::kText:
    case AxisKind::kChoice:
      column.type = "TEXT";
      column.fallback = QuoteText(axis.Print(axis.fallback));
      column.read = [index](const Statement& statement, int position, RunRecord& run) {
        // Assigned in place, because ForEachRun reuses one record and the memory of its strings.
        std::get<std::string>(run.cell.values[index]) = statement.Text(position);
        return true;
      };
      break;
    case AxisKind::kInteger:
      column.type = "INTEGER";
      column.fallback = axis.Print(axis.fallback);
      column.read = [index](const Statement& statement, int position, RunRecord& run) {
        run.cell.values[index] = statement.Integer(position);
        return true;
      };
      break;
    case AxisKind::kReal:
      column.type = "REAL";
      column.fallback = axis.Print(axis.fallback);
      column.read = [index](const Statement& statement, int position, RunRecord& run) {
        run.cell.values[index] = statement.Real(position);
        return true;
      };
      break;
  }
  column.bind = [index](Statement& statement, int parameter, const RunRecord& run) {
    std::visit([&](const auto& value) { statement.Bind(parameter, value); },
               run.cell.values[index]);
  };
  return column;
}

template <class Write, class Parse>
RunColumn TextColumn(std::string name, std::string fallback, Write write, Parse parse) {
  RunColumn column;
  column.name = std::move(name);
  column.type = "TEXT";
  column.fallback = QuoteText(fallback);
  column.bind = [write](Statement& statement, int parameter, const RunRecord& run) {
    statement.BindCopy(parameter, write(run));
  };
  column.read = [parse](const Statement& statement, int position, RunRecord& run) {
    return parse(statement.Text(position), run);
  };
  return column;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool ParseSettings(std::string_view text, CellSettings& settings) {
  settings.clear();
  if (text == "{}") return true;
  const Result<Json> json = ParseJson(text, "settings");
  if (!json.ok() || !json->is_object()) return false;
  for (const auto& [key, value] : json->items()) {
    if (!value.is_string()) return false;
    settings[key] = value.get<std::string>();
  }
  return true;
}

bool ParseFlags(std::string_view text, RunRecord& run) {
  run.flags.clear();
  if (text == "[]") return true;
  const Result<Json> json = ParseJson(text, "flags");
  if (!json.ok() || !json->is_array()) return false;
  for (const Json& flag : *json) {
    if (!flag.is_string()) return false;
    run.flags.push_back(flag.get<std::string>());
  }
  return true;
}

bool ParseSwap(std::string_view text, RunRecord& run) {
  run.limits.swap = text == "kill" ? SwapPolicy::kKill : SwapPolicy::kAllow;
  return text == "kill" || text == "allow";
}

bool ReadOutcome(std::string_view text, RunRecord& run) {
  const Result<Outcome> outcome = ParseOutcome(text);
  if (outcome.ok()) run.outcome = *outcome;
  return outcome.ok();
}

bool ReadRole(std::string_view text, RunRecord& run) {
  run.role.reset();
  if (text.empty()) return true;
  const Result<Role> role = ParseRole(text);
  if (role.ok()) run.role = *role;
  return role.ok();
}

std::vector<RunColumn> IdentityColumns() {
  std::vector<RunColumn> columns;
  columns.push_back(TextColumn(
      "outcome", "ok", [](const RunRecord& run) { return Name(run.outcome); }, ReadOutcome));
  for (size_t i = 0; i < Axes().size(); ++i) columns.push_back(AxisColumn(i));
  columns.push_back(TextColumn(
      "options", "{}", [](const RunRecord& run) { return Dump(Json(run.cell.options)); },
      [](std::string_view text, RunRecord& run) { return ParseSettings(text, run.cell.options); }));
  columns.push_back(TextColumn(
      "settings", "{}", [](const RunRecord& run) { return Dump(Json(run.settings)); },
      [](std::string_view text, RunRecord& run) { return ParseSettings(text, run.settings); }));
  columns.push_back(Column("block", &RunRecord::block));
  columns.push_back(Column("budget_warmup_steps", &Budget::warmup_steps));
  columns.push_back(Column("budget_fixed_steps", &Budget::fixed_steps));
  columns.push_back(Column("budget_epochs", &Budget::epochs));
  columns.push_back(Column("budget_min_steps", &Budget::min_steps));
  columns.push_back(Column("budget_min_time_ns", &Budget::min_time_ns));
  columns.push_back(Column("budget_relative_interval", &Budget::relative_interval));
  columns.push_back(Column("budget_time_limit_ns", &Budget::time_limit_ns));
  columns.push_back(Column("budget_test_data", &Budget::test_data));
  columns.push_back(Column("budget_eval_every", &Budget::eval_every));
  columns.push_back(Column("budget_until", &Budget::until));
  columns.push_back(Column("limit_timeout_ns", &Limits::timeout_ns));
  columns.push_back(Column("limit_memory_bytes", &Limits::memory_bytes));
  columns.push_back(TextColumn(
      "limit_swap", "allow",
      [](const RunRecord& run) { return run.limits.swap == SwapPolicy::kKill ? "kill" : "allow"; },
      ParseSwap));
  columns.push_back(Column("threads_used", &RunRecord::threads));
  columns.push_back(Column("reason", &RunRecord::reason));
  columns.push_back(Column("reproducer", &RunRecord::reproducer));
  columns.push_back(TextColumn(
      "flags", "[]", [](const RunRecord& run) { return Dump(Json(run.flags)); }, ParseFlags));
  columns.push_back(Column("conditions", &RunRecord::conditions));
  columns.push_back(Column("started_utc", &RunRecord::started_utc));
  columns.push_back(Column("machine", &RunRecord::machine));
  columns.push_back(Column("machine_id", &RunRecord::machine_id));
  columns.push_back(Column("cpu_model", &RunRecord::cpu_model));
  columns.push_back(Column("isa", &RunRecord::isa));
  columns.push_back(Column("worker_version", &RunRecord::worker_version));
  columns.push_back(Column("build", &RunRecord::build));
  columns.push_back(TextColumn(
      "role", "", [](const RunRecord& run) { return run.role ? Name(*run.role) : ""; }, ReadRole));
  columns.push_back(RulesColumn());
  columns.push_back(Column("solver", &RunRecord::solver));
  columns.push_back(Column("fingerprint", &RunRecord::fingerprint));
  columns.push_back(Column("parameters", &RunRecord::parameters));
  columns.push_back(Column("forward_flops_per_image", &RunRecord::forward_flops_per_image));
  columns.push_back(Column("step_flops", &RunRecord::step_flops));
  columns.push_back(Column("dropout", &RunRecord::dropout));
  columns.push_back(Column("repetition", &RunRecord::repetition));
  columns.push_back(Column("flush_to_zero", &RunRecord::flush_to_zero));
  columns.push_back(Column("cpus_used", &RunRecord::cpus_json));
  return columns;
}

void AppendSummaryColumns(std::vector<RunColumn>& columns) {
  columns.push_back(Column("steps", &RunSummary::steps));
  columns.push_back(Column("warmup_steps", &RunSummary::warmup_steps));
  columns.push_back(Column("step_ns_median", &RunSummary::step_ns_median));
  columns.push_back(Column("step_ns_mean", &RunSummary::step_ns_mean));
  columns.push_back(Column("step_ns_stddev", &RunSummary::step_ns_stddev));
  columns.push_back(Column("step_ns_low", &RunSummary::step_ns_low));
  columns.push_back(Column("step_ns_high", &RunSummary::step_ns_high));
  columns.push_back(Column("step_ns_min", &RunSummary::step_ns_min));
  columns.push_back(Column("step_ns_p5", &RunSummary::step_ns_p5));
  columns.push_back(Column("step_ns_p95", &RunSummary::step_ns_p95));
  columns.push_back(Column("step_ns_max", &RunSummary::step_ns_max));
  columns.push_back(Column("input_ns_median", &RunSummary::input_ns_median));
  columns.push_back(Column("loading_ns_per_image", &RunSummary::loading_ns_per_image));
  columns.push_back(Column("input_ns_mean", &RunSummary::input_ns_mean));
  columns.push_back(Column("end_to_end_ns_per_image", &RunSummary::end_to_end_ns_per_image));
  columns.push_back(Column("evaluations", &RunSummary::evaluations));
  columns.push_back(Column("test_loss", &RunSummary::test_loss));
  columns.push_back(Column("test_top1", &RunSummary::test_top1));
  columns.push_back(Column("test_top5", &RunSummary::test_top5));
  columns.push_back(Column("evaluation_ns", &RunSummary::evaluation_ns));
  columns.push_back(Column("target_ns", &RunSummary::target_ns));
  columns.push_back(Column("target_epochs", &RunSummary::target_epochs));
  columns.push_back(Column("first_loss", &RunSummary::first_loss));
  columns.push_back(Column("second_loss", &RunSummary::second_loss));
  columns.push_back(Column("third_loss", &RunSummary::third_loss));
  columns.push_back(Column("last_loss", &RunSummary::last_loss));
  columns.push_back(Column("converged", &RunSummary::converged));
  columns.push_back(Column("hello_ns", &RunSummary::hello_ns));
  columns.push_back(Column("build_ns", &RunSummary::build_ns));
  columns.push_back(Column("first_step_ns", &RunSummary::first_step_ns));
  columns.push_back(Column("compilations", &RunSummary::compilations));
  columns.push_back(Column("tune_ns", &RunSummary::tune_ns));
  columns.push_back(Column("tune_pays_steps", &RunSummary::tune_pays_steps));
  columns.push_back(Column("rss_before_build_bytes", &RunSummary::rss_before_build_bytes));
  columns.push_back(Column("build_peak_rss_bytes", &RunSummary::build_peak_rss_bytes));
  columns.push_back(Column("steps_peak_rss_bytes", &RunSummary::steps_peak_rss_bytes));
  columns.push_back(Column("sampled_peak_rss_bytes", &RunSummary::sampled_peak_rss_bytes));
  columns.push_back(Column("peak_swap_bytes", &RunSummary::peak_swap_bytes));
  columns.push_back(Column("planned_bytes", &RunSummary::planned_bytes));
  columns.push_back(Column("cpu_per_wall", &RunSummary::cpu_per_wall));
  columns.push_back(Column("cpu_energy_j", &RunSummary::cpu_energy_j));
  columns.push_back(Column("steps_energy_j", &RunSummary::steps_energy_j));
  columns.push_back(Column("idle_power_w", &RunSummary::idle_power_w));
  columns.push_back(Column("energy_window_ns", &RunSummary::energy_window_ns));
  columns.push_back(Column("energy_readings", &RunSummary::energy_readings));
  columns.push_back(Column("energy_packages", &RunSummary::energy_packages));
  columns.push_back(Column("energy_problem", &RunSummary::energy_problem));
  columns.push_back(Column("gpu_use_mean", &RunSummary::gpu_use_mean));
  columns.push_back(Column("gpu_use_peak", &RunSummary::gpu_use_peak));
  columns.push_back(Column("gpu_power_w_mean", &RunSummary::gpu_power_w_mean));
  columns.push_back(Column("gpu_power_w_peak", &RunSummary::gpu_power_w_peak));
  columns.push_back(Column("gpu_memory_peak_bytes", &RunSummary::gpu_memory_peak_bytes));
  columns.push_back(Column("major_faults", &RunSummary::major_faults));
  columns.push_back(Column("voluntary_switches", &RunSummary::voluntary_switches));
  columns.push_back(Column("involuntary_switches", &RunSummary::involuntary_switches));
  columns.push_back(Column("sentinel_before_compute_ns", &RunSummary::sentinel_before_compute_ns));
  columns.push_back(Column("sentinel_before_memory_ns", &RunSummary::sentinel_before_memory_ns));
  columns.push_back(Column("sentinel_after_compute_ns", &RunSummary::sentinel_after_compute_ns));
  columns.push_back(Column("sentinel_after_memory_ns", &RunSummary::sentinel_after_memory_ns));
  columns.push_back(Column("steal_share", &RunSummary::steal_share));
  columns.push_back(Column("throttled_share", &RunSummary::throttled_share));
  columns.push_back(Column("stretches", &RunSummary::stretches));
  columns.push_back(Column("slices", &RunSummary::slices));
  columns.push_back(Column("slow", &RunSummary::slow));
  columns.push_back(Column("disturbed", &RunSummary::disturbed));
  columns.push_back(Column("losses_agree", &RunSummary::losses_agree));
  columns.push_back(Column("wall_ns", &RunSummary::wall_ns));
  columns.push_back(Column("overhead_ns", &RunSummary::overhead_ns));
}

std::vector<RunColumn> MakeColumns() {
  std::vector<RunColumn> columns = IdentityColumns();
  AppendSummaryColumns(columns);
  std::set<std::string> names = {"id",
                                 "study",
                                 "round",
                                 "attempt",
                                 "cell_id",
                                 "worker_document",
                                 "choices_document",
                                 "environment_document"};
  for (const RunColumn& column : columns)
    Check(names.insert(column.name).second, "two columns of a run have the name " + column.name);
  return columns;
}

std::string Quote(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) quoted.append(c == quote ? 2 : 1, c);
  return quoted + quote;
}

}  // namespace

std::string RunColumn::Definition() const {
  if (fallback == "NULL") return QuoteName(name) + " " + type;
  return QuoteName(name) + " " + type + " NOT NULL DEFAULT " + fallback;
}

std::span<const RunColumn> RunColumns() {
  static const std::vector<RunColumn> columns = MakeColumns();
  return columns;
}

std::string QuoteName(std::string_view name) { return Quote(name, '"'); }
std::string QuoteText(std::string_view text) { return Quote(text, '\''); }

}  // namespace tench
