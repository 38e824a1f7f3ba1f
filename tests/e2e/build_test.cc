// SPDX-License-Identifier: Apache-2.0
// Studies and builds, with the real binary: a worker that changes between two sweeps gets a study
// of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "store/database.h"
#include "store/store.h"

namespace tench::build_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSuite =
    "name: builds\n"
    "rounds: 2\n"
    "worker: fake\n"
    "network: mlp\n"
    "batch: [1, 2]\n"
    "threads: 1\n"
    "steps: 2\n";

struct Output {
  std::string text;  // both streams
  int code = -1;
};

class BuildTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_.path() / "workers");
    fs::copy_file(fs::path(TENCH_SOURCE_DIR) / "tests/e2e/fake_worker.py", worker());
    fs::permissions(worker(), fs::perms::owner_all);
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / "builds.yaml", kSuite).ok());
  }

  fs::path worker() const { return folder_.path() / "workers" / "tench-worker-fake"; }
  void Rebuild() const { std::ofstream(worker(), std::ios::app) << "# changed\n"; }

  Output Tench(const std::string& arguments) const {
    const std::string command =
        "cd " + ShellQuote(folder_.path().string()) +
        " && export XDG_CACHE_HOME=cache TENCH_WORKER_PATH=workers TENCH_MACHINE=testbed && exec "
        "2>&1 && " TENCH_BIN_DIR "/tench " +
        arguments;
    FILE* pipe = popen(("sh -c " + ShellQuote(command)).c_str(), "r");
    Output output;
    char buffer[4096];
    while (const size_t size = fread(buffer, 1, sizeof buffer, pipe))
      output.text.append(buffer, size);
    const int status = pclose(pipe);
    output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
  }
  Output Sweep(const std::string& more = "") const {
    return Tench("sweep builds.yaml --db r.db --no-verify --no-sentinel " + more);
  }
  Json Results(const std::string& study) const {
    return Json::parse(Tench("results --db r.db --json --study " + study).text);
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-builds-");
};

TEST_F(BuildTest, ARebuiltWorkerBeginsANewStudyWhichIsTheLatest) {
  const Output first = Sweep();
  ASSERT_EQ(first.code, 0) << first.text;
  EXPECT_THAT(first.text, AllOf(HasSubstr("study 1: 4 runs"), Not(HasSubstr("not continued"))));
  EXPECT_THAT(Sweep().text, HasSubstr("study 1 is complete"));

  Rebuild();
  const Output second = Sweep();
  ASSERT_EQ(second.code, 0) << second.text;
  EXPECT_THAT(second.text,
              ContainsRegex("study 1 is not continued: fake changed \\([0-9a-f]{7}, now "
                            "[0-9a-f]{7}\\); a new study begins"));
  EXPECT_THAT(second.text, HasSubstr("study 2: 4 runs now (4 ok)"));
  EXPECT_THAT(Sweep().text, HasSubstr("study 2 is complete"));

  const Json before = Results("1"), latest = Results("latest");
  const std::string old_build = before["studies"][0]["builds"]["fake"];
  const std::string new_build = latest["studies"][0]["builds"]["fake"];
  EXPECT_EQ(latest["studies"][0]["id"], 2);
  EXPECT_NE(old_build, new_build);
  EXPECT_THAT(second.text,
              HasSubstr("(" + old_build.substr(0, 7) + ", now " + new_build.substr(0, 7) + ")"));
  for (const Json& row : latest["rows"]) {
    EXPECT_EQ(row["build"], new_build);
    EXPECT_EQ(row["worker_version"], "1.2.3+" + new_build.substr(0, 7));
    EXPECT_EQ(row["rules"], kRules);
  }
}

TEST_F(BuildTest, ATouchedButEqualWorkerGoesOn) {
  ASSERT_EQ(Sweep("--rounds 1").code, 0);
  fs::last_write_time(worker(), fs::file_time_type::clock::now() + std::chrono::hours(1));
  const Output more = Sweep();
  EXPECT_THAT(more.text, HasSubstr("study 1: 4 runs, 2 of them already done; resuming"));
}

TEST_F(BuildTest, AHalfFinishedStudyOfARebuiltWorkerIsNotContinued) {
  ASSERT_EQ(Sweep("--rounds 1").code, 0);
  Rebuild();
  const Output second = Sweep();
  ASSERT_EQ(second.code, 0) << second.text;
  EXPECT_THAT(second.text, HasSubstr("study 2: 4 runs now (4 ok)"));
  // Over both studies the two builds are two rows per cell.
  const Json all = Json::parse(Tench("results --db r.db --json --study all").text);
  EXPECT_EQ(all["rows"].size(), 4u);
}

TEST_F(BuildTest, TwoBuildsAreTwoRowsOfSingleRunsToo) {
  for (int i = 0; i < 2; ++i) {
    const Output run = Tench("run --worker fake --network mlp --threads 1 --steps 2 --db r.db");
    ASSERT_EQ(run.code, 0) << run.text;
    EXPECT_THAT(run.text, ContainsRegex("fake 1\\.2\\.3\\+[0-9a-f]{7}\n"));
    Rebuild();
  }
  ASSERT_EQ(Tench("run --worker fake --network mlp --threads 1 --steps 2 --db r.db").code, 0);
  const Json all = Json::parse(Tench("results --db r.db --json").text);
  ASSERT_EQ(all["rows"].size(), 3u);
  for (const Json& row : all["rows"]) EXPECT_EQ(row["runs_ok"], 1);
}

TEST_F(BuildTest, AFileFromBeforeBuildsIsReadAndShowsThePlainVersion) {
  ASSERT_EQ(Sweep().code, 0);
  {
    const Result<Database> database = Database::OpenReadWrite(folder_.path() / "r.db");
    ASSERT_TRUE(database.ok());
    constexpr const char* kOldParity =
        "CREATE TABLE parity (worker TEXT, worker_version TEXT, fingerprint TEXT, setting TEXT, "
        "outcome TEXT, reason TEXT, worst REAL, worst_tensor TEXT, checked_utc TEXT)";
    for (const char* sql :
         {"ALTER TABLE run DROP COLUMN build", "ALTER TABLE run DROP COLUMN rules",
          "ALTER TABLE run DROP COLUMN cpu_model", "ALTER TABLE run DROP COLUMN isa",
          "ALTER TABLE run DROP COLUMN solver", "ALTER TABLE study DROP COLUMN rules",
          "ALTER TABLE study DROP COLUMN builds", "ALTER TABLE study DROP COLUMN suite_text",
          "ALTER TABLE study DROP COLUMN step_plan", "ALTER TABLE study DROP COLUMN pairing",
          "ALTER TABLE study DROP COLUMN turn_plan", "ALTER TABLE series DROP COLUMN census",
          "DROP TABLE tuning", "DROP TABLE parity", kOldParity, "PRAGMA user_version = 2"}) {
      const Status done = database->Execute(sql);
      ASSERT_TRUE(done.ok()) << sql << ": " << done.error().message;
    }
  }
  const Output shown = Tench("results --db r.db");
  EXPECT_EQ(shown.code, 0) << shown.text;
  EXPECT_THAT(shown.text, AllOf(HasSubstr("rules: 1"), HasSubstr("fake 1.2.3 "),
                                Not(HasSubstr("fake 1.2.3+"))));
  const Output report = Tench("report --db r.db -o r.html");
  EXPECT_EQ(report.code, 0) << report.text;
  // The same command does not go on with it.
  EXPECT_THAT(Sweep().text, HasSubstr("study 1 is not continued: it was measured by rules 1"));
}

}  // namespace
}  // namespace tench::build_test
