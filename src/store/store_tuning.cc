// SPDX-License-Identifier: Apache-2.0
// Tunings: the settings of the tuned track, by study and cell.
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/json.h"
#include "store/store_impl.h"

namespace tench {
namespace {

constexpr std::array<std::string_view, 10> kColumns = {
    "study",    "cell_id",         "settings",     "trials", "budget_ns",
    "spent_ns", "default_step_ns", "best_step_ns", "build",  "tuned_utc"};

Json TrialsToJson(const std::vector<TuningTrial>& trials) {
  Json json = Json::array();
  for (const TuningTrial& trial : trials) {
    json.push_back({{"candidate", trial.candidate},
                    {"outcome", Name(trial.outcome)},
                    {"reason", trial.reason},
                    {"step_ns", trial.step_ns ? Json(*trial.step_ns) : Json(nullptr)},
                    {"wall_ns", trial.wall_ns}});
  }
  return json;
}

Result<TuningTrial> TrialFromJson(const Json& json) {
  Fields fields(json, "trials");
  fields.AllowUnknown();
  TuningTrial trial;
  trial.candidate = fields.String("candidate");
  const std::string outcome = fields.String("outcome");
  trial.reason = fields.String("reason");
  trial.wall_ns = fields.Integer("wall_ns", 0, std::numeric_limits<int64_t>::max());
  TENCH_TRY(fields.Finish());
  trial.outcome = TENCH_TRY(ParseOutcome(outcome));
  if (const auto step = json.find("step_ns"); step != json.end() && step->is_number())
    trial.step_ns = step->get<double>();
  return trial;
}

Result<TuningRecord> ReadTuning(const Statement& statement) {
  TuningRecord tuning;
  tuning.study = statement.Integer(0);
  tuning.cell_id = statement.Text(1);
  const Json settings = TENCH_TRY(ParseJson(statement.Text(2), "settings"));
  if (!settings.is_object()) return Failed("settings: must be an object");
  for (const auto& [key, value] : settings.items()) {
    if (!value.is_string()) return Failed("settings.{}: must be a text", key);
    tuning.settings[key] = value.get<std::string>();
  }
  for (const Json& trial : TENCH_TRY(ParseJson(statement.Text(3), "trials")))
    tuning.trials.push_back(TENCH_TRY(TrialFromJson(trial)));
  tuning.budget_ns = statement.Integer(4);
  tuning.spent_ns = statement.Integer(5);
  if (!statement.IsNull(6)) tuning.default_step_ns = statement.Real(6);
  if (!statement.IsNull(7)) tuning.best_step_ns = statement.Real(7);
  tuning.build = statement.Text(8);
  tuning.tuned_utc = statement.Text(9);
  return tuning;
}

}  // namespace

std::optional<int64_t> TuningRecord::PaysAfterSteps() const {
  if (!default_step_ns || !best_step_ns || *best_step_ns >= *default_step_ns) return std::nullopt;
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(spent_ns) / (*default_step_ns - *best_step_ns)));
}

Status Store::AddTuning(const TuningRecord& tuning) {
  Statement statement = TENCH_TRY(impl_->database.Prepare(
      fmt::format("INSERT INTO tuning ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                  fmt::join(kColumns, ", "))));
  const std::string settings = PrintJson(Json(tuning.settings));
  const std::string trials = PrintJson(TrialsToJson(tuning.trials));
  statement.Bind(1, tuning.study);
  statement.Bind(2, tuning.cell_id);
  statement.Bind(3, settings);
  statement.Bind(4, trials);
  statement.Bind(5, tuning.budget_ns);
  statement.Bind(6, tuning.spent_ns);
  statement.Bind(7, tuning.default_step_ns);
  statement.Bind(8, tuning.best_step_ns);
  statement.Bind(9, tuning.build);
  statement.Bind(10, tuning.tuned_utc);
  return statement.Run();
}

Result<std::vector<TuningRecord>> Store::Tunings(int64_t study) {
  std::vector<TuningRecord> tunings;
  // An older, read-only file has no such table.
  if (TENCH_TRY(impl_->database.Integer(
          "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'tuning'")) == 0)
    return tunings;
  Statement statement = TENCH_TRY(impl_->database.Prepare(fmt::format(
      "SELECT {} FROM tuning WHERE study = ?1 ORDER BY cell_id", fmt::join(kColumns, ", "))));
  statement.Bind(1, study);
  while (TENCH_TRY(statement.Step()))
    tunings.push_back(TENCH_TRY(ReadTuning(statement).In(impl_->database.path())));
  return tunings;
}

}  // namespace tench
