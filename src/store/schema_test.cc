// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/file.h"
#include "store/store.h"
#include "store/test_run.h"

namespace tench::schema_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SchemaTest : public testing::Test {
 protected:
  SchemaTest()
      : folder_(*TemporaryFolder::Make("schema-test")), path_(folder_.path() / "results.db") {}
  Database Open() { return *Database::OpenReadWrite(path_); }

  TemporaryFolder folder_;
  std::filesystem::path path_;
};

const Migration kFirst = {
    1, [](const Database& db) {
      return db.Execute("CREATE TABLE run (id INTEGER PRIMARY KEY, study INTEGER)");
    }};
const Migration kSecond = {
    2, [](const Database& db) { return db.Execute("CREATE TABLE pond (depth REAL)"); }};
const Migration kThird = {3, [](const Database& db) {
                            return db.Execute("ALTER TABLE pond ADD COLUMN width REAL DEFAULT 7");
                          }};

TEST_F(SchemaTest, BringsAnOlderFileUpToDateInOrderAndKeepsItsRows) {
  const std::vector<Migration> old = {kFirst, kSecond}, now = {kFirst, kSecond, kThird};
  ASSERT_TRUE(Migrate(Open(), old).ok());
  ASSERT_TRUE(Open().Execute("INSERT INTO pond VALUES (3.5)").ok());
  const Status status = Migrate(Open(), now);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 3);
  EXPECT_EQ(*Open().Integer("SELECT count(*) FROM pond WHERE depth = 3.5 AND width = 7"), 1);
  EXPECT_TRUE(Migrate(Open(), now).ok());
}

TEST_F(SchemaTest, AMigrationThatFailsLeavesTheFileAsItWas) {
  const std::vector<Migration> old = {kFirst},
                               broken = {kFirst, kSecond, {3, [](const Database&db) {
                                                             return db.Execute("nonsense");
                                                           }}};
  ASSERT_TRUE(Migrate(Open(), old).ok());
  EXPECT_FALSE(Migrate(Open(), broken).ok());
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*Open().Integer("SELECT count(*) FROM sqlite_schema WHERE name = 'pond'"), 0);
}

TEST_F(SchemaTest, RefusesANewerFileAndNamesBothVersionsAndTheWayOut) {
  ASSERT_TRUE(Store::Open(path_, Store::Mode::kReadWrite).ok());
  ASSERT_TRUE(Open().Execute("PRAGMA user_version = 42").ok());
  for (const auto mode : {Store::Mode::kReadOnly, Store::Mode::kReadWrite}) {
    const Result<Store> store = Store::Open(path_, mode);
    ASSERT_FALSE(store.ok());
    EXPECT_THAT(store.error().message, AllOf(HasSubstr(path_.string()), HasSubstr("schema 42"),
                                             HasSubstr("up to 6"), HasSubstr("update tench")));
  }
}

TEST_F(SchemaTest, AnOlderFileThatMayNotBeChangedSaysHowToUpdateIt) {
  const std::vector<Migration> old = {kFirst}, now = {kFirst, kSecond};
  ASSERT_TRUE(Migrate(Open(), old).ok());
  const Status status = CheckVersion(*Database::OpenReadOnly(path_), now);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("schema 1"), HasSubstr("reads 2")));
}

TEST_F(SchemaTest, AnOlderFileThatOnlyLacksColumnsCanBeRead) {
  Migration third = kThird;
  third.columns_only = true;
  ASSERT_TRUE(Migrate(Open(), std::vector<Migration>{kFirst, kSecond}).ok());
  const std::vector<Migration> now = {kFirst, kSecond, third};
  EXPECT_TRUE(CheckVersion(*Database::OpenReadOnly(path_), now).ok());
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 2) << "and is not changed";
  const std::vector<Migration> later = {kFirst, kSecond, third, {4, kSecond.apply}};
  EXPECT_FALSE(CheckVersion(*Database::OpenReadOnly(path_), later).ok());
}

// A file of schema 2, without builds, rules and the CPU in the parity key.
class Layout2Test : public SchemaTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Migrate(Open(), Migrations().first(2)).ok());
    const Database database = Open();
    const Status filled = database.Execute(
        "INSERT INTO study VALUES (7, 'quick', 'f', 'pond', 'pond-id', '{}', '0.1.0', '', "
        "'2026-01-02T03:04:05Z', 1, 5, 12);"
        "INSERT INTO run (id, study, round, attempt, cell_id, worker, worker_version) VALUES "
        "(1, 7, 0, 0, 'cell', 'native', '0.1.0');"
        "INSERT INTO parity VALUES ('native', '0.1.0', 'f00d', 'device=cpu', 'ok', '', 0.5, "
        "'conv1', 'then')");
    ASSERT_TRUE(filled.ok()) << filled.error().message;
    for (const char* column : {"cpu_model", "isa", "build", "rules", "solver"}) {
      ASSERT_TRUE(database.Execute(fmt::format("ALTER TABLE run DROP COLUMN {}", column)).ok());
    }
  }

  void ExpectContent(Store::Mode mode) {
    Result<Store> store = Store::Open(path_, mode);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const auto studies = store->Studies();
    ASSERT_TRUE(studies.ok()) << studies.error().message;
    ASSERT_EQ(studies->size(), 1u);
    EXPECT_EQ(studies->at(0).id, 7);
    EXPECT_EQ(studies->at(0).cells, 12);
    EXPECT_EQ(studies->at(0).rules, kUnnumberedRules);
    EXPECT_TRUE(studies->at(0).builds.empty());
    int runs = 0;
    const Status walked = store->ForEachRun({}, [&](const RunRecord& run) {
      ++runs;
      EXPECT_EQ(run.worker_version, "0.1.0");
      EXPECT_EQ(run.build, "");
      EXPECT_EQ(run.cpu_model, "");
      EXPECT_EQ(run.isa, "");
      EXPECT_EQ(run.solver, "");
      EXPECT_EQ(run.rules, kUnnumberedRules);
      return true;
    });
    EXPECT_TRUE(walked.ok()) << walked.error().message;
    EXPECT_EQ(runs, 1);
    const auto parities = store->Parities();
    ASSERT_TRUE(parities.ok()) << parities.error().message;
    ASSERT_EQ(parities->size(), 1u);
    EXPECT_EQ(parities->at(0).key,
              (ParityKey{"native", "0.1.0", "", "", "", "f00d", "device=cpu"}));
    EXPECT_EQ(parities->at(0).worst, 0.5);
    EXPECT_EQ(parities->at(0).checked_utc, "then");
    EXPECT_FALSE(store->FindParity(parities->at(0).key)->has_value()) << "of which build and CPU?";
  }
};

TEST_F(Layout2Test, ReadOnlyItOpensAsItIs) {
  ExpectContent(Store::Mode::kReadOnly);
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 2);
}

TEST_F(Layout2Test, ReadWriteMigratesItAndKeepsItsRows) {
  ExpectContent(Store::Mode::kReadWrite);
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 6);
  EXPECT_EQ(*Open().Integer("SELECT count(*) FROM sqlite_schema WHERE name = 'parity_2'"), 0);
  ExpectContent(Store::Mode::kReadOnly);
  Store store = *Store::Open(path_, Store::Mode::kReadWrite);
  ASSERT_TRUE(store.SetParity(TestParity()).ok());
  EXPECT_TRUE(store.FindParity(TestParity().key)->has_value());
  const Result<int64_t> study = store.AddStudy(TestStudy());
  ASSERT_TRUE(study.ok());
  EXPECT_EQ(store.Studies()->back().rules, kRules);
  EXPECT_EQ(store.Studies()->back().builds, TestStudy().builds);
  ASSERT_TRUE(store.AddTuning(TestTuning(*study)).ok());
  EXPECT_EQ(store.Tunings(*study)->size(), 1u);
  EXPECT_EQ(store.Studies()->front().suite_text, "");
  EXPECT_EQ(store.Studies()->back().suite_text, TestStudy().suite_text);
  EXPECT_TRUE(store.Studies()->front().step_plan.empty());
  EXPECT_EQ(store.Studies()->back().step_plan, TestStudy().step_plan);
  EXPECT_EQ(store.Studies()->back().pairing, StudyPairing::kTurns);
  EXPECT_EQ(store.Studies()->back().turn_plan, TestStudy().turn_plan);
}

// A file of schema 4, whose studies have planned no steps.
class Layout4Test : public SchemaTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Migrate(Open(), Migrations().first(4)).ok());
    const Database database = Open();
    const Status filled = database.Execute(
        "INSERT INTO study VALUES (7, 'quick', 'f', 'pond', 'pond-id', '{}', '0.1.0', '', "
        "'2026-01-02T03:04:05Z', 1, 5, 12, 2, '{}', 'worker: native');"
        "INSERT INTO run (id, study, round, attempt, cell_id, worker, worker_version) VALUES "
        "(1, 7, 0, 2, 'cell', 'native', '0.1.0')");
    ASSERT_TRUE(filled.ok()) << filled.error().message;
    for (const char* column : {"repetition", "placement", "flush_to_zero", "cpus_used",
                               "steal_share", "throttled_share", "stretches", "slices"})
      ASSERT_TRUE(database.Execute(fmt::format("ALTER TABLE run DROP COLUMN {}", column)).ok());
  }

  void ExpectContent(Store::Mode mode) {
    Result<Store> store = Store::Open(path_, mode);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const auto studies = store->Studies();
    ASSERT_TRUE(studies.ok()) << studies.error().message;
    EXPECT_EQ(studies->at(0).suite_text, "worker: native");
    EXPECT_TRUE(studies->at(0).step_plan.empty());
    EXPECT_EQ(studies->at(0).pairing, StudyPairing::kRounds);
    EXPECT_TRUE(studies->at(0).turn_plan.empty());
    int runs = 0;
    const Status walked = store->ForEachRun({}, [&](const RunRecord& run) {
      ++runs;
      EXPECT_EQ(run.attempt, 2);
      EXPECT_EQ(run.repetition, 0);
      EXPECT_EQ(run.flush_to_zero, "");
      EXPECT_EQ(run.cell.Text(kAxisPlacement), "first");
      EXPECT_EQ(run.summary.steal_share, std::nullopt);
      EXPECT_EQ(run.summary.stretches, "");
      return true;
    });
    EXPECT_TRUE(walked.ok()) << walked.error().message;
    EXPECT_EQ(runs, 1);
  }
};

TEST_F(Layout4Test, ReadOnlyItOpensAsItIs) {
  ExpectContent(Store::Mode::kReadOnly);
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 4);
}

TEST_F(Layout4Test, ReadWriteMigratesItSoThatAStudyCanPlanItsSteps) {
  ExpectContent(Store::Mode::kReadWrite);
  EXPECT_EQ(*Open().Integer("PRAGMA user_version"), 6);
  Store store = *Store::Open(path_, Store::Mode::kReadWrite);
  ASSERT_TRUE(store.SetPlannedSteps(7, "network=lenet", 20).ok());
  ASSERT_TRUE(store.SetPlannedSteps(7, "network=lstm", 5).ok());
  EXPECT_EQ(store.Studies()->at(0).step_plan,
            (StepPlan{{"network=lenet", 20}, {"network=lstm", 5}}));
  EXPECT_FALSE(store.SetPlannedSteps(8, "network=lenet", 20).ok()) << "there is no study 8";
  const TurnPlan turns = {{"network=lenet", {4, ""}}};
  ASSERT_TRUE(store.SetTurnPlan(7, turns).ok());
  EXPECT_EQ(store.Studies()->at(0).turn_plan, turns);
}

// A file from a version with fewer axes and measurements.
class OlderColumnsTest : public SchemaTest {
 protected:
  void SetUp() override {
    {
      Store store = *Store::Open(path_, Store::Mode::kReadWrite);
      Cell cell = TestCell();
      cell.values[kAxisMomentum] = 0.5;
      ASSERT_TRUE(store.AddRun(TestRun(0, 0, cell), TestSeries()).ok());
    }
    for (const char* column : {"momentum", "precision", "length", "cpu_energy_j", "limit_swap"}) {
      ASSERT_TRUE(Open().Execute(fmt::format("ALTER TABLE run DROP COLUMN {}", column)).ok());
    }
  }

  void ExpectDefaults(Store::Mode mode) {
    Result<Store> store = Store::Open(path_, mode);
    ASSERT_TRUE(store.ok()) << store.error().message;
    int count = 0;
    const Status status = store->ForEachRun({}, [&](const RunRecord& run) {
      ++count;
      for (const AxisIndex axis : {kAxisMomentum, kAxisPrecision, kAxisLength}) {
        EXPECT_EQ(run.cell.values[axis], Axes()[axis].fallback) << Axes()[axis].name;
      }
      EXPECT_EQ(run.cell.Integer(kAxisBatch), 64);
      EXPECT_EQ(run.summary.cpu_energy_j, std::nullopt);
      EXPECT_EQ(run.summary.step_ns_median, TestSummary().step_ns_median);
      EXPECT_EQ(run.limits.swap, SwapPolicy::kAllow);
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(count, 1);
  }
};

TEST_F(OlderColumnsTest, ReadOnlyShowsMissingAxesAtTheirDefaults) {
  ExpectDefaults(Store::Mode::kReadOnly);
  EXPECT_FALSE(ColumnNames(Open(), "run")->contains("momentum"));
}

TEST_F(OlderColumnsTest, ReadWriteAddsMissingAxesWithTheirDefaults) {
  ExpectDefaults(Store::Mode::kReadWrite);
  EXPECT_TRUE(ColumnNames(Open(), "run")->contains("momentum"));
  ExpectDefaults(Store::Mode::kReadOnly);
}

TEST_F(SchemaTest, TheAxisColumnsHaveTheTypesOfTheirAxes) {
  ASSERT_TRUE(Store::Open(path_, Store::Mode::kReadWrite).ok());
  const Database database = Open();
  for (const Axis& axis : Axes()) {
    Statement statement =
        *database.Prepare("SELECT type FROM pragma_table_info('run') WHERE name = ?1");
    statement.Bind(1, axis.name);
    ASSERT_TRUE(*statement.Step()) << axis.name;
    const bool text = axis.kind == AxisKind::kText || axis.kind == AxisKind::kChoice;
    EXPECT_EQ(statement.Text(0), text                              ? "TEXT"
                                 : axis.kind == AxisKind::kInteger ? "INTEGER"
                                                                   : "REAL")
        << axis.name;
  }
}

}  // namespace
}  // namespace tench::schema_test
