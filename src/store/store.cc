// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <array>
#include <limits>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "store/schema.h"
#include "store/store_impl.h"

namespace tench {
namespace {

constexpr std::array<std::string_view, 18> kStudyColumns = {"id",
                                                            "suite",
                                                            "suite_fingerprint",
                                                            "machine",
                                                            "machine_id",
                                                            "host_json",
                                                            "tench_version",
                                                            "filter",
                                                            "started_utc",
                                                            "seed",
                                                            "rounds",
                                                            "cells",
                                                            "rules",
                                                            "builds",
                                                            "suite_text",
                                                            "step_plan",
                                                            "pairing",
                                                            "turn_plan"};
constexpr std::array<LaterColumn, 6> kLaterStudyColumns = {{{"rules", "1"},
                                                            {"builds", "'{}'"},
                                                            {"suite_text", "''"},
                                                            {"step_plan", "'{}'"},
                                                            {"pairing", "'rounds'"},
                                                            {"turn_plan", "'{}'"}}};

std::string BuildsText(const WorkerBuilds& builds) { return PrintJson(Json(builds)); }

Result<WorkerBuilds> ParseBuilds(std::string_view text) {
  const Json json = TENCH_TRY(ParseJson(text, "builds"));
  WorkerBuilds builds;
  for (const auto& [worker, build] : json.items()) {
    if (!json.is_object() || !build.is_string())
      return Failed("builds: '{}' is no list of workers and builds", Printable(text));
    builds[worker] = build.get<std::string>();
  }
  return builds;
}

Result<StepPlan> ParseStepPlan(std::string_view text) {
  const Json json = TENCH_TRY(ParseJson(text, "step_plan"));
  StepPlan plan;
  for (const auto& [group, steps] : json.items()) {
    if (!json.is_object() || !steps.is_number_integer() || steps.get<int64_t>() < 1)
      return Failed("step_plan: '{}' is no list of groups and steps", Printable(text));
    plan[group] = steps.get<int64_t>();
  }
  return plan;
}

std::string TurnPlanText(const TurnPlan& plan) {
  Json json = Json::object();
  for (const auto& [group, turns] : plan)
    json[group] = {{"slices", turns.slices}, {"reason", turns.reason}};
  return PrintJson(json);
}

Result<TurnPlan> ParseTurnPlan(std::string_view text) {
  const Json json = TENCH_TRY(ParseJson(text, "turn_plan"));
  TurnPlan plan;
  for (const auto& [group, item] : json.items()) {
    if (!json.is_object() || !item.is_object())
      return Failed("turn_plan: '{}' is no list of groups", Printable(text));
    Fields fields(item, "turn_plan");
    GroupTurns& turns = plan[group];
    turns.slices = fields.Integer("slices", 0, std::numeric_limits<int64_t>::max());
    turns.reason = fields.String("reason");
    TENCH_TRY(fields.Finish());
  }
  return plan;
}

Result<StudyRecord> ReadStudy(const Statement& statement) {
  StudyRecord study;
  int column = 0;
  study.id = statement.Integer(column++);
  for (std::string* text :
       {&study.suite, &study.suite_fingerprint, &study.machine, &study.machine_id, &study.host_json,
        &study.tench_version, &study.filter, &study.started_utc}) {
    *text = statement.Text(column++);
  }
  study.seed = static_cast<uint64_t>(statement.Integer(column++));
  study.rounds = statement.Integer(column++);
  study.cells = statement.Integer(column++);
  study.rules = statement.Integer(column++);
  study.builds = TENCH_TRY(ParseBuilds(statement.Text(column++)).In("study"));
  study.suite_text = statement.Text(column++);
  study.step_plan = TENCH_TRY(ParseStepPlan(statement.Text(column++)).In("study"));
  study.pairing = TENCH_TRY(ParsePairing(statement.Text(column++)).In("study"));
  study.turn_plan = TENCH_TRY(ParseTurnPlan(statement.Text(column++)).In("study"));
  return study;
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::Open(const std::filesystem::path& path, Mode mode) {
  if (mode == Mode::kReadOnly) {
    Database database = TENCH_TRY(Database::OpenReadOnly(path));
    TENCH_TRY(CheckVersion(database, Migrations()));
    return Store(std::make_unique<Impl>(std::move(database)));
  }
  Database database = TENCH_TRY(Database::OpenReadWrite(path));
  // The tables are created before WAL mode is set, so that the main file itself identifies its
  // format from the start.
  TENCH_TRY(Migrate(database, Migrations()));
  TENCH_TRY(database.UseWriteAheadLog());
  return Store(std::make_unique<Impl>(std::move(database)));
}

Status Store::InOneTransaction(const std::function<Status()>& work) {
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  TENCH_TRY(work());
  return transaction.Commit();
}

Result<int64_t> Store::AddStudy(const StudyRecord& study) {
  Statement insert = TENCH_TRY(impl_->database.Prepare(fmt::format(
      "INSERT INTO study ({}) VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
      "?13, ?14, ?15, ?16, ?17)",
      fmt::join(kStudyColumns, ", "))));
  int parameter = 1;
  for (const std::string* text :
       {&study.suite, &study.suite_fingerprint, &study.machine, &study.machine_id, &study.host_json,
        &study.tench_version, &study.filter, &study.started_utc}) {
    insert.Bind(parameter++, *text);
  }
  insert.Bind(parameter++, static_cast<int64_t>(study.seed));
  insert.Bind(parameter++, study.rounds);
  insert.Bind(parameter++, study.cells);
  insert.Bind(parameter++, study.rules);
  insert.BindCopy(parameter++, BuildsText(study.builds));
  insert.Bind(parameter++, study.suite_text);
  insert.BindCopy(parameter++, PrintJson(Json(study.step_plan)));
  insert.Bind(parameter++, Name(study.pairing));
  insert.BindCopy(parameter++, TurnPlanText(study.turn_plan));
  TENCH_TRY(insert.Run());
  return impl_->database.last_id();
}

Status Store::ExtendStudy(int64_t study, int64_t rounds, int64_t cells,
                          const WorkerBuilds& builds) {
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  Statement select = TENCH_TRY(impl_->database.Prepare("SELECT builds FROM study WHERE id = ?1"));
  select.Bind(1, study);
  if (!TENCH_TRY(select.Step()))
    return Failed("{}: there is no study {}", impl_->database.path(), study);
  WorkerBuilds all = TENCH_TRY(ParseBuilds(select.Text(0)).In(impl_->database.path()));
  select.Reset();
  for (const auto& [worker, build] : builds) {
    std::string& known = all[worker];
    if (known.empty()) known = build;
  }
  Statement update = TENCH_TRY(
      impl_->database.Prepare("UPDATE study SET rounds = max(rounds, ?2), cells = max(cells, ?3), "
                              "builds = ?4 WHERE id = ?1"));
  update.Bind(1, study);
  update.Bind(2, rounds);
  update.Bind(3, cells);
  update.BindCopy(4, BuildsText(all));
  TENCH_TRY(update.Run());
  return transaction.Commit();
}

Status Store::SetPlannedSteps(int64_t study, const std::string& group, int64_t steps) {
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  Statement select =
      TENCH_TRY(impl_->database.Prepare("SELECT step_plan FROM study WHERE id = ?1"));
  select.Bind(1, study);
  if (!TENCH_TRY(select.Step()))
    return Failed("{}: there is no study {}", impl_->database.path(), study);
  StepPlan plan = TENCH_TRY(ParseStepPlan(select.Text(0)).In(impl_->database.path()));
  select.Reset();
  plan[group] = steps;
  Statement update =
      TENCH_TRY(impl_->database.Prepare("UPDATE study SET step_plan = ?2 WHERE id = ?1"));
  update.Bind(1, study);
  update.BindCopy(2, PrintJson(Json(plan)));
  TENCH_TRY(update.Run());
  return transaction.Commit();
}

Status Store::SetTurnPlan(int64_t study, const TurnPlan& plan) {
  Statement update =
      TENCH_TRY(impl_->database.Prepare("UPDATE study SET turn_plan = ?2 WHERE id = ?1"));
  update.Bind(1, study);
  update.BindCopy(2, TurnPlanText(plan));
  return update.Run();
}

Result<std::vector<StudyRecord>> Store::Studies() {
  const std::string columns =
      TENCH_TRY(SelectList(impl_->database, "study", kStudyColumns, kLaterStudyColumns));
  Statement select =
      TENCH_TRY(impl_->database.Prepare(fmt::format("SELECT {} FROM study ORDER BY id", columns)));
  std::vector<StudyRecord> studies;
  while (TENCH_TRY(select.Step()))
    studies.push_back(TENCH_TRY(ReadStudy(select).In(impl_->database.path())));
  return studies;
}

Result<std::optional<StudyRecord>> Store::FindStudy(const std::string& suite,
                                                    const std::string& fingerprint,
                                                    const std::string& machine_id,
                                                    const std::string& filter) {
  const std::string columns =
      TENCH_TRY(SelectList(impl_->database, "study", kStudyColumns, kLaterStudyColumns));
  Statement select = TENCH_TRY(impl_->database.Prepare(
      fmt::format("SELECT {} FROM study WHERE suite = ?1 AND suite_fingerprint = ?2 "
                  "AND machine_id = ?3 AND filter = ?4 ORDER BY id DESC LIMIT 1",
                  columns)));
  select.Bind(1, suite);
  select.Bind(2, fingerprint);
  select.Bind(3, machine_id);
  select.Bind(4, filter);
  if (!TENCH_TRY(select.Step())) return std::optional<StudyRecord>();
  return std::optional(TENCH_TRY(ReadStudy(select).In(impl_->database.path())));
}

Result<std::optional<ProcessIdentity>> Store::Impl::Claimant(int64_t study, std::string& since) {
  Statement select =
      TENCH_TRY(database.Prepare("SELECT pid, start_ticks, boot_id, machine_id, host, claimed_utc "
                                 "FROM claim WHERE study = ?1"));
  select.Bind(1, study);
  if (!TENCH_TRY(select.Step())) return std::optional<ProcessIdentity>();
  since = select.Text(5);
  return std::optional(ProcessIdentity{select.Integer(0), select.Integer(1),
                                       std::string(select.Text(2)), std::string(select.Text(3)),
                                       std::string(select.Text(4))});
}

Status Store::ClaimStudy(int64_t study) {
  // Check and claim are one transaction, so that only one of two processes takes over from a dead
  // one.
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  std::string since;
  const std::optional<ProcessIdentity> other = TENCH_TRY(impl_->Claimant(study, since));
  const ProcessIdentity self = ThisProcess();
  const ProcessLife life = other && *other != self ? LifeOf(*other) : ProcessLife::kDead;
  if (life == ProcessLife::kAlive) {
    return Failed(
        "{}: process {} has been working on study {} since {}; let it finish or stop it first",
        impl_->database.path(), other->pid, study, since);
  }
  if (life == ProcessLife::kUnknown) {
    return Failed(
        "{}: study {} is claimed by process {} on machine {} since {}, whose state is unknown "
        "here; begin a new study with --new",
        impl_->database.path(), study, other->pid, other->host, since);
  }
  if (TENCH_TRY(impl_->database.Integer(
          fmt::format("SELECT count(*) FROM study WHERE id = {}", study))) == 0) {
    return Failed("{}: there is no study {}", impl_->database.path(), study);
  }
  Statement insert = TENCH_TRY(impl_->database.Prepare(
      "INSERT OR REPLACE INTO claim (study, pid, start_ticks, boot_id, machine_id, "
      "host, claimed_utc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  insert.Bind(1, study);
  insert.Bind(2, self.pid);
  insert.Bind(3, self.start_ticks);
  insert.Bind(4, self.boot_id);
  insert.Bind(5, self.machine_id);
  insert.Bind(6, self.host);
  insert.BindCopy(7, UtcNow());
  TENCH_TRY(insert.Run());
  return transaction.Commit();
}

Status Store::ReleaseStudy(int64_t study) {
  const ProcessIdentity self = ThisProcess();
  Statement remove = TENCH_TRY(impl_->database.Prepare(
      "DELETE FROM claim WHERE study = ?1 AND pid = ?2 AND start_ticks = ?3 AND boot_id = ?4"));
  remove.Bind(1, study);
  remove.Bind(2, self.pid);
  remove.Bind(3, self.start_ticks);
  remove.Bind(4, self.boot_id);
  return remove.Run();
}

}  // namespace tench
