// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <vector>

#include "store/run_column.h"

namespace tench {
namespace {

// Only the identifying columns are here; RunColumns() adds the others. A single run belongs to no
// study: its `study` is NULL, which exempts it from the unique constraint on attempts.
constexpr char kVersion1[] = R"sql(
  CREATE TABLE study (
    id INTEGER PRIMARY KEY,
    suite TEXT NOT NULL,
    suite_fingerprint TEXT NOT NULL,
    machine TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    host_json TEXT NOT NULL,
    tench_version TEXT NOT NULL,
    filter TEXT NOT NULL,
    started_utc TEXT NOT NULL,
    seed INTEGER NOT NULL,
    rounds INTEGER NOT NULL,
    cells INTEGER NOT NULL
  );
  CREATE TABLE claim (
    study INTEGER PRIMARY KEY REFERENCES study(id),
    pid INTEGER NOT NULL,
    start_ticks INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    host TEXT NOT NULL,
    claimed_utc TEXT NOT NULL
  );
  CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    content TEXT NOT NULL
  );
  CREATE INDEX document_hash ON document(hash);
  CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    study INTEGER REFERENCES study(id),
    round INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    cell_id TEXT NOT NULL,
    worker_document INTEGER REFERENCES document(id),
    choices_document INTEGER REFERENCES document(id),
    environment_document INTEGER REFERENCES document(id)
  );
  CREATE UNIQUE INDEX run_attempt ON run(study, round, cell_id, attempt);
  CREATE INDEX run_study ON run(study);
  CREATE INDEX run_cell ON run(study, cell_id);
  CREATE TABLE series (
    run INTEGER PRIMARY KEY REFERENCES run(id),
    step_ns BLOB NOT NULL,
    warmup_ns BLOB NOT NULL,
    input_ns BLOB NOT NULL,
    loss BLOB NOT NULL,
    samples BLOB NOT NULL,
    log BLOB NOT NULL
  );
)sql";

constexpr char kVersion2[] = R"sql(
  CREATE TABLE parity (
    worker TEXT NOT NULL,
    worker_version TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    setting TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    worst REAL NOT NULL,
    worst_tensor TEXT NOT NULL,
    checked_utc TEXT NOT NULL,
    PRIMARY KEY (worker, worker_version, fingerprint, setting)
  );
)sql";

// Parity results of older files have an unknown build and CPU, and match no key.
constexpr char kVersion3[] = R"sql(
  ALTER TABLE study ADD COLUMN rules INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE study ADD COLUMN builds TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE parity RENAME TO parity_2;
  CREATE TABLE parity (
    worker TEXT NOT NULL,
    worker_version TEXT NOT NULL,
    build TEXT NOT NULL,
    cpu_model TEXT NOT NULL,
    isa TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    setting TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    worst REAL NOT NULL,
    worst_tensor TEXT NOT NULL,
    checked_utc TEXT NOT NULL,
    PRIMARY KEY (worker, worker_version, build, cpu_model, isa, fingerprint, setting)
  );
  INSERT INTO parity SELECT worker, worker_version, '', '', '', fingerprint, setting, outcome,
    reason, worst, worst_tensor, checked_utc FROM parity_2;
  DROP TABLE parity_2;
)sql";

// The suite's text makes a study reproducible without its file.
constexpr char kVersion4[] = R"sql(
  ALTER TABLE study ADD COLUMN suite_text TEXT NOT NULL DEFAULT '';
)sql";

// A resumed study makes the number of steps that it planned (StepPlan), with the settings of the
// tuned track: once per study and cell.
constexpr char kVersion5[] = R"sql(
  ALTER TABLE study ADD COLUMN step_plan TEXT NOT NULL DEFAULT '{}';
  CREATE TABLE tuning (
    study INTEGER NOT NULL REFERENCES study(id),
    cell_id TEXT NOT NULL,
    settings TEXT NOT NULL,
    trials TEXT NOT NULL,
    budget_ns INTEGER NOT NULL,
    spent_ns INTEGER NOT NULL,
    default_step_ns REAL,
    best_step_ns REAL,
    build TEXT NOT NULL,
    tuned_utc TEXT NOT NULL,
    PRIMARY KEY (study, cell_id)
  );
)sql";

// A resumed study measures in turns what it planned so (TurnPlan). The census of a profiled run is
// kept with its series.
constexpr char kVersion6[] = R"sql(
  ALTER TABLE study ADD COLUMN pairing TEXT NOT NULL DEFAULT 'rounds';
  ALTER TABLE study ADD COLUMN turn_plan TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE series ADD COLUMN census BLOB NOT NULL DEFAULT x'';
)sql";

Status AddMissingColumns(const Database& database) {
  const std::set<std::string> present = TENCH_TRY(ColumnNames(database, "run"));
  for (const RunColumn& column : RunColumns()) {
    if (!present.contains(column.name))
      TENCH_TRY(database.Execute("ALTER TABLE run ADD COLUMN " + column.Definition()));
  }
  return Ok();
}

Result<bool> LacksColumns(const Database& database) {
  const std::set<std::string> present = TENCH_TRY(ColumnNames(database, "run"));
  for (const RunColumn& column : RunColumns()) {
    if (!present.contains(column.name)) return true;
  }
  return false;
}

Error TooNew(const Database& database, int64_t version, int64_t newest) {
  return Failed(
      "{}: written by a newer tench (schema {}; this one reads up to {}); update tench, or use "
      "another file",
      database.path(), version, newest);
}

}  // namespace

std::span<const Migration> Migrations() {
  static const std::vector<Migration> migrations = {
      {1, [](const Database& database) { return database.Execute(kVersion1); }},
      {2, [](const Database& database) { return database.Execute(kVersion2); }},
      {3, [](const Database& database) { return database.Execute(kVersion3); }, true},
      {4, [](const Database& database) { return database.Execute(kVersion4); }, true},
      {5, [](const Database& database) { return database.Execute(kVersion5); }, true},
      {6, [](const Database& database) { return database.Execute(kVersion6); }, true},
  };
  return migrations;
}

Status Migrate(const Database& database, std::span<const Migration> migrations) {
  const int64_t newest = migrations.back().version;
  // An up-to-date file needs no write lock, so opening does not wait for another process's write.
  const int64_t before = TENCH_TRY(database.Integer("PRAGMA user_version"));
  if (before > newest) return TooNew(database, before, newest);
  if (before == newest && !TENCH_TRY(LacksColumns(database))) return Ok();

  Transaction transaction = TENCH_TRY(Transaction::Begin(database));
  const int64_t version = TENCH_TRY(database.Integer("PRAGMA user_version"));
  if (version > newest) return TooNew(database, version, newest);
  TENCH_TRY(database.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  for (const Migration& migration : migrations) {
    if (migration.version <= version) continue;
    TENCH_TRY(migration.apply(database));
    TENCH_TRY(database.Execute(fmt::format("PRAGMA user_version = {}", migration.version)));
  }
  TENCH_TRY(AddMissingColumns(database));
  return transaction.Commit();
}

Status CheckVersion(const Database& database, std::span<const Migration> migrations) {
  if (TENCH_TRY(database.IsEmpty()))
    return Failed("{}: the file is empty: no results have been stored there yet", database.path());
  const int64_t version = TENCH_TRY(database.Integer("PRAGMA user_version"));
  const int64_t newest = migrations.back().version;
  if (version > newest) return TooNew(database, version, newest);
  for (const Migration& migration : migrations) {
    if (migration.version <= version || migration.columns_only) continue;
    return Failed(
        "{}: written by an older tench (schema {}; this one reads {}); any command that stores a "
        "run updates it",
        database.path(), version, newest);
  }
  return Ok();
}

Result<std::set<std::string>> ColumnNames(const Database& database, const std::string& table) {
  Statement statement = TENCH_TRY(database.Prepare("SELECT name FROM pragma_table_info(?1)"));
  statement.Bind(1, table);
  std::set<std::string> names;
  while (TENCH_TRY(statement.Step())) names.insert(std::string(statement.Text(0)));
  return names;
}

Result<std::string> SelectList(const Database& database, const std::string& table,
                               std::span<const std::string_view> columns,
                               std::span<const LaterColumn> later) {
  const std::set<std::string> present = TENCH_TRY(ColumnNames(database, table));
  std::string list;
  for (const std::string_view column : columns) {
    std::string_view read = column;
    for (const LaterColumn& one : later) {
      if (one.name == column && !present.contains(std::string(column))) read = one.fallback;
    }
    list += fmt::format("{}{}", list.empty() ? "" : ", ", read);
  }
  return list;
}

}  // namespace tench
