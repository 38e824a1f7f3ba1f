// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/clock.h"
#include "store/database.h"
#include "store/document.h"
#include "store/process_identity.h"
#include "store/run_column.h"
#include "store/schema.h"
#include "store/series_blob.h"

namespace tench {
namespace {

// The columns of `run` in front of RunColumns(), in this order in every statement.
constexpr std::string_view kRunKeys =
    "id, study, round, attempt, cell_id, worker_document, choices_document, environment_document";
enum RunKey : int {
  kId,
  kStudy,
  kRound,
  kAttempt,
  kCellId,
  kWorkerDocument,
  kChoicesDocument,
  kEnvironmentDocument
};
constexpr int kRunKeyCount = kEnvironmentDocument + 1;
// The record's texts that are documents, in the order of their keys.
constexpr std::array<std::string RunRecord::*, 3> kDocumentTexts = {
    &RunRecord::worker_json, &RunRecord::choices_json, &RunRecord::environment_json};

constexpr std::string_view kStudyColumns =
    "id, suite, suite_fingerprint, machine, machine_id, host_json, tench_version, filter, "
    "started_utc, seed, rounds, "
    "cells";

StudyRecord ReadStudy(const Statement& statement) {
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
  return study;
}

// A single run's study is 0 in a record and NULL in the table.
std::optional<int64_t> StudyKey(int64_t study) {
  return study == 0 ? std::nullopt : std::optional(study);
}

std::string InsertSql() {
  std::string names(kRunKeys), marks = "NULL";
  int parameter = 1;
  for (int key = kStudy; key < kRunKeyCount; ++key) marks += fmt::format(", ?{}", parameter++);
  for (const RunColumn& column : RunColumns()) {
    names += ", " + QuoteName(column.name);
    marks += fmt::format(", ?{}", parameter++);
  }
  return fmt::format("INSERT INTO run ({}) VALUES ({})", names, marks);
}

// A column that an older, read-only file lacks is selected as its default.
std::string SelectSql(const std::set<std::string>& present, const RunFilter& filter) {
  std::string sql = fmt::format("SELECT {}", kRunKeys);
  for (const RunColumn& column : RunColumns())
    sql += ", " + (present.contains(column.name) ? QuoteName(column.name) : column.fallback);
  sql += " FROM run WHERE 1";
  if (filter.study) sql += " AND study IS ?1";
  if (filter.cell_id) sql += " AND cell_id = ?2";
  if (filter.run) sql += " AND id = ?3";
  return sql + " ORDER BY id";
}

}  // namespace

class Store::Impl {
 public:
  explicit Impl(Database opened) : database(std::move(opened)) {}

  Result<Documents*> OpenDocuments() {
    if (!documents) documents.emplace(TENCH_TRY(Documents::Open(database)));
    return &*documents;
  }
  Result<int64_t> FreeAttempt(const RunRecord& run);
  Result<int64_t> InsertRun(const RunRecord& run);
  Status InsertSeries(int64_t run, const RunSeries& series);
  Status ReadRun(const Statement& statement, RunRecord& run, std::array<int64_t, 3>& seen);
  Result<std::optional<ProcessIdentity>> Claimant(int64_t study, std::string& since);

  Database database;
  std::optional<Documents> documents;
  std::optional<Statement> insert_run, insert_series;
};

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
  // The tables come before the log, so that the file itself says whose it is from its first byte
  // on.
  TENCH_TRY(Migrate(database, Migrations()));
  TENCH_TRY(database.UseWriteAheadLog());
  return Store(std::make_unique<Impl>(std::move(database)));
}

Result<int64_t> Store::AddStudy(const StudyRecord& study) {
  Statement insert = TENCH_TRY(impl_->database.Prepare(fmt::format(
      "INSERT INTO study ({}) VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
      kStudyColumns)));
  int parameter = 1;
  for (const std::string* text :
       {&study.suite, &study.suite_fingerprint, &study.machine, &study.machine_id, &study.host_json,
        &study.tench_version, &study.filter, &study.started_utc}) {
    insert.Bind(parameter++, *text);
  }
  insert.Bind(parameter++, static_cast<int64_t>(study.seed));
  insert.Bind(parameter++, study.rounds);
  insert.Bind(parameter++, study.cells);
  TENCH_TRY(insert.Run());
  return impl_->database.last_id();
}

Status Store::ExtendStudy(int64_t study, int64_t rounds, int64_t cells) {
  Statement update = TENCH_TRY(impl_->database.Prepare(
      "UPDATE study SET rounds = max(rounds, ?2), cells = max(cells, ?3) WHERE id = ?1"));
  update.Bind(1, study);
  update.Bind(2, rounds);
  update.Bind(3, cells);
  TENCH_TRY(update.Run());
  if (impl_->database.changes() == 0)
    return Failed("{}: there is no study {}", impl_->database.path(), study);
  return Ok();
}

Status Store::SetNoise(int64_t run, bool slow, bool disturbed) {
  Statement update =
      TENCH_TRY(impl_->database.Prepare("UPDATE run SET slow = ?2, disturbed = ?3 WHERE id = ?1"));
  update.Bind(1, run);
  update.Bind(2, int64_t{slow});
  update.Bind(3, int64_t{disturbed});
  TENCH_TRY(update.Run());
  if (impl_->database.changes() == 0)
    return Failed("{}: there is no run {}", impl_->database.path(), run);
  return Ok();
}

Result<std::vector<StudyRecord>> Store::Studies() {
  Statement select = TENCH_TRY(
      impl_->database.Prepare(fmt::format("SELECT {} FROM study ORDER BY id", kStudyColumns)));
  std::vector<StudyRecord> studies;
  while (TENCH_TRY(select.Step())) studies.push_back(ReadStudy(select));
  return studies;
}

Result<std::optional<StudyRecord>> Store::FindStudy(const std::string& suite,
                                                    const std::string& fingerprint,
                                                    const std::string& machine_id,
                                                    const std::string& filter) {
  Statement select = TENCH_TRY(impl_->database.Prepare(
      fmt::format("SELECT {} FROM study WHERE suite = ?1 AND suite_fingerprint = ?2 "
                  "AND machine_id = ?3 AND filter = ?4 ORDER BY id DESC LIMIT 1",
                  kStudyColumns)));
  select.Bind(1, suite);
  select.Bind(2, fingerprint);
  select.Bind(3, machine_id);
  select.Bind(4, filter);
  if (!TENCH_TRY(select.Step())) return std::optional<StudyRecord>();
  return std::optional(ReadStudy(select));
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
  // Looking and taking are one transaction: of two processes that find the same dead claimant, one
  // gets the study.
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
        "{}: study {} was taken by process {} on machine {} at {}, and whether that still runs "
        "cannot be seen from "
        "here; start a new study instead",
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

// An interrupted attempt stays on record, and the run that makes up for it is the next attempt.
Result<int64_t> Store::Impl::FreeAttempt(const RunRecord& run) {
  if (run.study == 0) return run.attempt;
  Statement select = TENCH_TRY(database.Prepare(
      "SELECT attempt, outcome FROM run WHERE study = ?1 AND round = ?2 AND cell_id = ?3 "
      "AND attempt >= ?4 ORDER BY attempt"));
  select.Bind(1, run.study);
  select.Bind(2, run.round);
  select.Bind(3, run.cell_id);
  select.Bind(4, run.attempt);
  int64_t attempt = run.attempt;
  while (TENCH_TRY(select.Step())) {
    if (select.Integer(0) != attempt || select.Text(1) != Name(Outcome::kInterrupted)) break;
    ++attempt;
  }
  return attempt;
}

Result<int64_t> Store::Impl::InsertRun(const RunRecord& run) {
  Check(run.cell.values.size() == Axes().size(),
        "a cell without a value for every axis was stored");
  if (!insert_run) insert_run.emplace(TENCH_TRY(database.Prepare(InsertSql())));
  Documents* const texts = TENCH_TRY(OpenDocuments());
  int parameter = 1;
  insert_run->Bind(parameter++, StudyKey(run.study));
  insert_run->Bind(parameter++, run.round);
  insert_run->Bind(parameter++, TENCH_TRY(FreeAttempt(run)));
  insert_run->Bind(parameter++, run.cell_id);
  for (const auto text : kDocumentTexts)
    insert_run->Bind(parameter++, TENCH_TRY(texts->Add(run.*text)));
  for (const RunColumn& column : RunColumns()) column.bind(*insert_run, parameter++, run);
  const Status inserted = insert_run->Run();
  if (inserted.ok()) return database.last_id();
  switch (sqlite3_extended_errcode(database.get())) {
    case SQLITE_CONSTRAINT_UNIQUE:
      return Failed("{}: study {} already has round {}, attempt {} of cell {}", database.path(),
                    run.study, run.round, run.attempt, run.cell_id);
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return Failed("{}: there is no study {}", database.path(), run.study);
    default:
      return inserted.error();
  }
}

Status Store::Impl::InsertSeries(int64_t run, const RunSeries& series) {
  if (!insert_series) {
    insert_series.emplace(TENCH_TRY(database.Prepare(
        "INSERT INTO series (run, step_ns, warmup_ns, input_ns, loss, samples, log) VALUES "
        "(?1, ?2, ?3, ?4, ?5, ?6, ?7)")));
  }
  const std::array<std::string, 4> blobs = {
      EncodeSeries(series.step_ns), EncodeSeries(series.warmup_ns), EncodeSeries(series.input_ns),
      EncodeSeries(series.loss)};
  int parameter = 1;
  insert_series->Bind(parameter++, run);
  for (const std::string& blob : blobs) insert_series->BindBlob(parameter++, blob);
  insert_series->BindBlob(parameter++, series.samples);
  insert_series->BindBlob(parameter++, series.log);
  return insert_series->Run();
}

Result<int64_t> Store::AddRun(const RunRecord& run, const RunSeries& series) {
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  const int64_t id = TENCH_TRY(impl_->InsertRun(run));
  TENCH_TRY(impl_->InsertSeries(id, series));
  TENCH_TRY(transaction.Commit());
  return id;
}

Status Store::InOneTransaction(const std::function<Status()>& work) {
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  TENCH_TRY(work());
  return transaction.Commit();
}

Result<std::set<std::pair<int64_t, std::string>>> Store::FinishedRuns(int64_t study) {
  Statement select = TENCH_TRY(impl_->database.Prepare(
      "SELECT round, cell_id FROM run WHERE study IS ?1 AND outcome <> ?2"));
  select.Bind(1, StudyKey(study));
  select.Bind(2, Name(Outcome::kInterrupted));
  std::set<std::pair<int64_t, std::string>> finished;
  while (TENCH_TRY(select.Step())) finished.emplace(select.Integer(0), select.Text(1));
  return finished;
}

Status Store::Impl::ReadRun(const Statement& statement, RunRecord& run,
                            std::array<int64_t, 3>& seen) {
  run.id = statement.Integer(kId);
  run.study = statement.Integer(kStudy);
  run.round = statement.Integer(kRound);
  run.attempt = statement.Integer(kAttempt);
  run.cell_id = statement.Text(kCellId);
  Documents* const texts = TENCH_TRY(OpenDocuments());
  for (size_t i = 0; i < kDocumentTexts.size(); ++i) {
    const int64_t id = statement.Integer(kWorkerDocument + static_cast<int>(i));
    if (id == seen[i]) continue;  // the record still holds it from the run before
    run.*kDocumentTexts[i] = id == 0 ? std::string() : *TENCH_TRY(texts->Get(id));
    seen[i] = id;
  }
  int position = kRunKeyCount;
  for (const RunColumn& column : RunColumns()) {
    if (!column.read(statement, position, run)) {
      return Failed("{}: run {} has a '{}' that this tench does not know: '{}'", database.path(),
                    run.id, column.name, statement.Text(position));
    }
    ++position;
  }
  return Ok();
}

Status Store::ForEachRun(const RunFilter& filter,
                         const std::function<bool(const RunRecord&)>& each) {
  const std::set<std::string> present = TENCH_TRY(ColumnNames(impl_->database, "run"));
  Statement select = TENCH_TRY(impl_->database.Prepare(SelectSql(present, filter)));
  if (filter.study) select.Bind(1, StudyKey(*filter.study));
  if (filter.cell_id) select.Bind(2, *filter.cell_id);
  if (filter.run) select.Bind(3, *filter.run);
  RunRecord run;
  std::array<int64_t, 3> seen = {};
  while (TENCH_TRY(select.Step())) {
    TENCH_TRY(impl_->ReadRun(select, run, seen));
    if (!each(run)) break;
  }
  return Ok();
}

Result<RunSeries> Store::Series(int64_t run) {
  Statement select = TENCH_TRY(impl_->database.Prepare(
      "SELECT step_ns, warmup_ns, input_ns, loss, samples, log FROM series WHERE run = ?1"));
  select.Bind(1, run);
  if (!TENCH_TRY(select.Step()))
    return Failed("{}: there is no run {}", impl_->database.path(), run);
  const std::string context = fmt::format("{}: run {}", impl_->database.path(), run);
  RunSeries series;
  series.step_ns = TENCH_TRY(DecodeIntegers(select.Blob(0)).In(context));
  series.warmup_ns = TENCH_TRY(DecodeIntegers(select.Blob(1)).In(context));
  series.input_ns = TENCH_TRY(DecodeIntegers(select.Blob(2)).In(context));
  series.loss = TENCH_TRY(DecodeReals(select.Blob(3)).In(context));
  series.samples = select.Blob(4);
  series.log = select.Blob(5);
  return series;
}

Status Store::SetParity(const ParityRecord& parity) {
  Statement statement = TENCH_TRY(impl_->database.Prepare(
      "INSERT OR REPLACE INTO parity (worker, worker_version, fingerprint, setting, outcome, "
      "reason, worst, "
      "worst_tensor, checked_utc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  int parameter = 1;
  for (const std::string* text : {&parity.worker, &parity.worker_version, &parity.fingerprint,
                                  &parity.setting, &Name(parity.outcome), &parity.reason})
    statement.Bind(parameter++, *text);
  // SQLite has no infinity that every tool reads, and NaN would become NULL.
  statement.Bind(parameter++,
                 std::isfinite(parity.worst) ? parity.worst : std::numeric_limits<double>::max());
  statement.Bind(parameter++, parity.worst_tensor);
  statement.Bind(parameter++, parity.checked_utc);
  return statement.Run();
}

Result<std::vector<ParityRecord>> Store::Parities() {
  Statement statement =
      TENCH_TRY(impl_->database.Prepare("SELECT worker, worker_version, fingerprint, setting, "
                                        "outcome, reason, worst, worst_tensor, checked_utc "
                                        "FROM parity ORDER BY 1, 2, 3, 4"));
  std::vector<ParityRecord> parities;
  while (TENCH_TRY(statement.Step())) {
    ParityRecord& parity = parities.emplace_back();
    int column = 0;
    for (std::string* text :
         {&parity.worker, &parity.worker_version, &parity.fingerprint, &parity.setting})
      *text = statement.Text(column++);
    parity.outcome = TENCH_TRY(ParseOutcome(statement.Text(4)));
    parity.reason = statement.Text(5);
    parity.worst = statement.Real(6);
    parity.worst_tensor = statement.Text(7);
    parity.checked_utc = statement.Text(8);
  }
  return parities;
}

Result<std::optional<ParityRecord>> Store::FindParity(const std::string& worker,
                                                      const std::string& worker_version,
                                                      const std::string& fingerprint,
                                                      const std::string& setting) {
  Statement statement = TENCH_TRY(impl_->database.Prepare(
      "SELECT outcome, reason, worst, worst_tensor, checked_utc FROM parity "
      "WHERE worker = ?1 AND worker_version = ?2 AND fingerprint = ?3 AND setting = ?4"));
  int parameter = 1;
  for (const std::string* text : {&worker, &worker_version, &fingerprint, &setting})
    statement.Bind(parameter++, *text);
  if (!TENCH_TRY(statement.Step())) return std::optional<ParityRecord>();
  ParityRecord parity{worker, worker_version, fingerprint, setting, Outcome::kOk, "", 0, "", ""};
  parity.outcome = TENCH_TRY(ParseOutcome(statement.Text(0)));
  parity.reason = statement.Text(1);
  parity.worst = statement.Real(2);
  parity.worst_tensor = statement.Text(3);
  parity.checked_utc = statement.Text(4);
  return std::optional<ParityRecord>(std::move(parity));
}

}  // namespace tench
