// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "store/census_blob.h"
#include "store/run_column.h"
#include "store/schema.h"
#include "store/series_blob.h"
#include "store/store_impl.h"

namespace tench {
namespace {

// The columns of `run` before RunColumns(), in the order of every statement.
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
// The record's documents, in the order of their key columns.
constexpr std::array<std::string RunRecord::*, 3> kDocumentTexts = {
    &RunRecord::worker_json, &RunRecord::choices_json, &RunRecord::environment_json};

constexpr std::array<std::string_view, 7> kSeriesColumns = {
    "step_ns", "warmup_ns", "input_ns", "loss", "samples", "log", "census"};
constexpr std::array<LaterColumn, 1> kLaterSeriesColumns = {{{"census", "x''"}}};

// A single run has study 0 in its record and NULL in the table.
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

// A column that an older, read-only file lacks is replaced by its default.
std::string SelectSql(const std::set<std::string>& present, const RunFilter& filter) {
  std::string sql = fmt::format("SELECT {}", kRunKeys);
  for (const RunColumn& column : RunColumns())
    sql += ", " + (present.contains(column.name) ? QuoteName(column.name) : column.fallback);
  sql += " FROM run WHERE 1";
  if (filter.study) sql += " AND study IS ?1";
  if (filter.cell_id) sql += " AND cell_id = ?2";
  if (filter.run) sql += " AND id = ?3";
  if (!filter.replaced) {
    sql +=
        " AND (outcome = 'ok' OR NOT EXISTS (SELECT 1 FROM run AS later WHERE later.study = "
        "run.study AND later.round = run.round AND later.cell_id = run.cell_id AND later.attempt > "
        "run.attempt AND later.outcome <> 'interrupted'))";
  }
  return sql + " ORDER BY id";
}

}  // namespace

// An interrupted attempt stays on record; its replacement is the next attempt.
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
  Check(run.cell.values.size() == Axes().size(), "a stored cell has a value for every axis");
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
        "INSERT INTO series (run, step_ns, warmup_ns, input_ns, loss, samples, log, census) VALUES "
        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")));
  }
  const std::array<std::string, 4> blobs = {
      EncodeSeries(series.step_ns), EncodeSeries(series.warmup_ns), EncodeSeries(series.input_ns),
      EncodeSeries(series.loss)};
  int parameter = 1;
  insert_series->Bind(parameter++, run);
  for (const std::string& blob : blobs) insert_series->BindBlob(parameter++, blob);
  insert_series->BindBlob(parameter++, series.samples);
  insert_series->BindBlob(parameter++, series.log);
  const std::string census = EncodeCensus(series.census);
  insert_series->BindBlob(parameter++, census);
  return insert_series->Run();
}

Result<int64_t> Store::AddRun(const RunRecord& run, const RunSeries& series) {
  Transaction transaction = TENCH_TRY(Transaction::Begin(impl_->database));
  const int64_t id = TENCH_TRY(impl_->InsertRun(run));
  TENCH_TRY(impl_->InsertSeries(id, series));
  TENCH_TRY(transaction.Commit());
  return id;
}

Status Store::SetNoise(int64_t run, bool slow, bool disturbed) {
  Statement update =
      TENCH_TRY(impl_->database.Prepare("UPDATE run SET slow = ?2, disturbed = ?3 WHERE id = ?1"));
  update.Bind(1, run);
  update.Bind(2, int64_t{slow});
  update.Bind(3, int64_t{disturbed});
  TENCH_TRY(update.Run());
  return impl_->CheckChanged(run);
}

Status Store::SetLossesAgree(int64_t run) {
  Statement update =
      TENCH_TRY(impl_->database.Prepare("UPDATE run SET losses_agree = 1 WHERE id = ?1"));
  update.Bind(1, run);
  TENCH_TRY(update.Run());
  return impl_->CheckChanged(run);
}

Status Store::SetLossesWrong(const RunRecord& run) {
  static const std::set<std::string_view> names = {"outcome", "reason", "flags", "losses_agree"};
  std::vector<const RunColumn*> columns;
  std::string sets;
  for (const RunColumn& column : RunColumns()) {
    if (!names.contains(column.name)) continue;
    columns.push_back(&column);
    sets += fmt::format("{}{} = ?{}", sets.empty() ? "" : ", ", QuoteName(column.name),
                        columns.size() + 1);
  }
  Check(columns.size() == names.size(), "a column of the loss judgement is missing");
  Statement update =
      TENCH_TRY(impl_->database.Prepare(fmt::format("UPDATE run SET {} WHERE id = ?1", sets)));
  update.Bind(1, run.id);
  for (size_t i = 0; i < columns.size(); ++i)
    columns[i]->bind(update, static_cast<int>(i) + 2, run);
  TENCH_TRY(update.Run());
  return impl_->CheckChanged(run.id);
}

Result<bool> Store::HasUnjudgedLosses() {
  const std::set<std::string> present = TENCH_TRY(ColumnNames(impl_->database, "run"));
  // A file without these columns has no comparable run.
  if (!present.contains("losses_agree") || !present.contains("dropout")) return false;
  return TENCH_TRY(impl_->database.Integer(
             "SELECT EXISTS (SELECT 1 FROM run WHERE study IS NOT NULL AND outcome = 'ok' AND "
             "dropout = 0 AND losses_agree IS NULL)")) != 0;
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
    if (id == seen[i]) continue;  // `run` holds it from the previous row
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
  const std::string columns =
      TENCH_TRY(SelectList(impl_->database, "series", kSeriesColumns, kLaterSeriesColumns));
  Statement select = TENCH_TRY(
      impl_->database.Prepare(fmt::format("SELECT {} FROM series WHERE run = ?1", columns)));
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
  series.census = TENCH_TRY(DecodeCensus(select.Blob(6)).In(context));
  return series;
}

Result<std::optional<double>> Store::LossAt(int64_t run, int64_t step) {
  Statement select =
      TENCH_TRY(impl_->database.Prepare("SELECT substr(loss, ?2, ?3) FROM series WHERE run = ?1"));
  select.Bind(1, run);
  select.Bind(2, (step - 1) * kSeriesValueBytes + 1);  // substr counts from 1
  select.Bind(3, kSeriesValueBytes);
  if (!TENCH_TRY(select.Step()))
    return Failed("{}: there is no run {}", impl_->database.path(), run);
  const std::vector<double> loss = TENCH_TRY(
      DecodeReals(select.Blob(0)).In(fmt::format("{}: run {}", impl_->database.path(), run)));
  return loss.empty() ? std::nullopt : std::optional(loss[0]);
}

}  // namespace tench
