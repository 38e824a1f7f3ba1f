// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/file.h"
#include "store/store.h"
#include "store/test_run.h"

namespace tench {
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
    EXPECT_THAT(store.error().message, AllOf(HasSubstr(path_.string()), HasSubstr("layout 42"),
                                             HasSubstr("up to 2"), HasSubstr("update tench")));
  }
}

TEST_F(SchemaTest, AnOlderFileThatMayNotBeChangedSaysHowToUpdateIt) {
  const std::vector<Migration> old = {kFirst}, now = {kFirst, kSecond};
  ASSERT_TRUE(Migrate(Open(), old).ok());
  const Status status = CheckVersion(*Database::OpenReadOnly(path_), now);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("layout 1"), HasSubstr("reads 2")));
}

// A file of a tench whose axis table and measurements were shorter.
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
}  // namespace tench
