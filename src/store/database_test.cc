// SPDX-License-Identifier: Apache-2.0
// Damaged and foreign files: each kind has its own one-line error, and opening changes none of
// them.
#include "store/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/file.h"
#include "store/store.h"
#include "store/test_run.h"

namespace tench::database_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr auto kBothModes = {Store::Mode::kReadOnly, Store::Mode::kReadWrite};

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest()
      : folder_(*TemporaryFolder::Make("database-test")), path_(folder_.path() / "results.db") {
    chmod(folder_.path().c_str(), 0755);
  }

  std::string OpenError(Store::Mode mode) {
    const Result<Store> store = Store::Open(path_, mode);
    return store.ok() ? "opened" : store.error().message;
  }
  void MakeStore(int runs) {
    Store store = *Store::Open(path_, Store::Mode::kReadWrite);
    ASSERT_TRUE(store
                    .InOneTransaction([&]() -> Status {
                      for (int i = 0; i < runs; ++i)
                        TENCH_TRY(store.AddRun(TestRun(), TestSeries()));
                      return Ok();
                    })
                    .ok());
  }
  std::string CountRuns(Store::Mode mode) {
    Result<Store> store = Store::Open(path_, mode);
    if (!store.ok()) return store.error().message;
    int count = 0;
    const Status status = store->ForEachRun({}, [&](const RunRecord&) { return ++count, true; });
    return status.ok() ? fmt::format("{} runs", count) : status.error().message;
  }
  // Runs `work` as an unprivileged user and returns its text.
  static std::string AsOrdinaryUser(const std::function<std::string()>& work) {
    if (geteuid() != 0) return work();
    int channel[2];
    Check(pipe(channel) == 0, "pipe");
    const pid_t child = fork();
    if (child == 0) {
      const std::string text =
          setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 ? work()
                                                                                     : "still root";
      (void)!write(channel[1], text.data(), text.size());
      _exit(0);
    }
    close(channel[1]);
    std::string text;
    char buffer[512];
    for (ssize_t got = 0; (got = read(channel[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(got));
    close(channel[0]);
    waitpid(child, nullptr, 0);
    return text;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
};

TEST_F(DatabaseTest, AMissingFileIsMadeForWritingAndNamedForReading) {
  EXPECT_THAT(OpenError(Store::Mode::kReadOnly),
              AllOf(StartsWith(path_.string()), HasSubstr("no such file")));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(OpenError(Store::Mode::kReadWrite), "opened");
  EXPECT_EQ(OpenError(Store::Mode::kReadOnly), "opened");
}

TEST_F(DatabaseTest, MakesTheLastPartOfTheFolderButNoMore) {
  path_ = folder_.path() / "new" / "results.db";
  EXPECT_EQ(OpenError(Store::Mode::kReadWrite), "opened");
  path_ = folder_.path() / "typo" / "deeper" / "results.db";
  EXPECT_THAT(OpenError(Store::Mode::kReadWrite),
              AllOf(HasSubstr("typo/deeper"), HasSubstr("No such file or directory")));
}

TEST_F(DatabaseTest, AnEmptyFileIsFineForWriting) {
  ASSERT_TRUE(WriteFileAtomically(path_, "").ok());
  EXPECT_THAT(OpenError(Store::Mode::kReadOnly), HasSubstr("the file is empty"));
  EXPECT_EQ(OpenError(Store::Mode::kReadWrite), "opened");
}

TEST_F(DatabaseTest, RefusesAFileThatIsNoDatabaseAndLeavesItAlone) {
  for (const std::string& content :
       {std::string("x"), std::string("network,batch\nlenet,64\n"), std::string(5000, 'a')}) {
    ASSERT_TRUE(WriteFileAtomically(path_, content).ok());
    for (const auto mode : kBothModes)
      EXPECT_THAT(OpenError(mode),
                  AllOf(StartsWith(path_.string()), HasSubstr("not an SQLite database")));
    EXPECT_EQ(*ReadFile(path_), content);
  }
}

TEST_F(DatabaseTest, RefusesAFolder) {
  std::filesystem::create_directory(path_);
  for (const auto mode : kBothModes) EXPECT_THAT(OpenError(mode), HasSubstr("this is a folder"));
}

TEST_F(DatabaseTest, RefusesAnotherProgramsDatabaseAndLeavesItAlone) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE mail (body TEXT); PRAGMA application_id = 17",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  const std::string before = *ReadFile(path_);
  for (const auto mode : kBothModes) {
    EXPECT_THAT(OpenError(mode), AllOf(StartsWith(path_.string()), HasSubstr("another program"),
                                       HasSubstr("0x00000011")));
  }
  EXPECT_EQ(*ReadFile(path_), before);
}

TEST_F(DatabaseTest, TellsATruncatedFileAtEveryLength) {
  MakeStore(200);
  const std::string whole = *ReadFile(path_);
  ASSERT_GT(whole.size(), 100'000u);
  for (const size_t length :
       {size_t{20}, size_t{99}, size_t{100}, size_t{4000}, size_t{4096}, size_t{5000},
        whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    ASSERT_TRUE(WriteFileAtomically(path_, whole.substr(0, length)).ok());
    for (const auto mode : kBothModes) {
      const std::string text = CountRuns(mode);
      EXPECT_THAT(text, AllOf(StartsWith(path_.string()), HasSubstr("truncated or damaged"),
                              HasSubstr(".recover")))
          << length;
      EXPECT_THAT(text, Not(HasSubstr("\n")));
    }
  }
}

TEST_F(DatabaseTest, TellsDamageInTheMiddleWhenItMeetsIt) {
  MakeStore(400);
  std::string content = *ReadFile(path_);
  // Spares the first page, which holds the schema's root.
  for (size_t i = 8192; i < content.size(); ++i) content[i] = static_cast<char>(i * 7919 >> 3);
  ASSERT_TRUE(WriteFileAtomically(path_, content).ok());
  EXPECT_THAT(CountRuns(Store::Mode::kReadOnly),
              AllOf(StartsWith(path_.string()), HasSubstr("damaged")));
}

TEST_F(DatabaseTest, NamesAFolderThatMayNotBeWritten) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_THAT(AsOrdinaryUser([&] { return OpenError(Store::Mode::kReadWrite); }),
              AllOf(StartsWith(path_.string()), HasSubstr("Permission denied")));
  path_ = folder_.path() / "new" / "results.db";
  EXPECT_THAT(AsOrdinaryUser([&] { return OpenError(Store::Mode::kReadWrite); }),
              AllOf(HasSubstr("cannot create the folder"), HasSubstr("Permission denied")));
}

TEST_F(DatabaseTest, AWriteProtectedFileInAWriteProtectedFolderCanBeRead) {
  MakeStore(3);
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_EQ(AsOrdinaryUser([&] { return CountRuns(Store::Mode::kReadOnly); }), "3 runs");
  EXPECT_THAT(AsOrdinaryUser([&] { return CountRuns(Store::Mode::kReadWrite); }),
              HasSubstr("no permission to write"));
}

TEST_F(DatabaseTest, AWriteProtectedFileInAnOpenFolderCanBeRead) {
  MakeStore(3);
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_EQ(AsOrdinaryUser([&] { return CountRuns(Store::Mode::kReadOnly); }), "3 runs");
}

TEST_F(DatabaseTest, AnUnreadableFileIsNamedAsSuch) {
  MakeStore(1);
  ASSERT_EQ(chmod(path_.c_str(), 0), 0);
  for (const auto mode : kBothModes) {
    EXPECT_THAT(AsOrdinaryUser([&] { return OpenError(mode); }),
                AllOf(StartsWith(path_.string()), HasSubstr("Permission denied")));
  }
}

TEST_F(DatabaseTest, OddCharactersInAPathAreNoParameters) {
  path_ = folder_.path() / "50% of it?mode=memory#1.db";
  MakeStore(2);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  EXPECT_EQ(AsOrdinaryUser([&] { return CountRuns(Store::Mode::kReadOnly); }), "2 runs");
}

TEST_F(DatabaseTest, AFullDatabaseIsAFullDiskForTheUser) {
  const Database database = *Database::OpenReadWrite(path_);
  ASSERT_TRUE(database.Execute("CREATE TABLE t (x); PRAGMA max_page_count = 3").ok());
  Statement insert = *database.Prepare("INSERT INTO t VALUES (randomblob(20000))");
  EXPECT_THAT(insert.Run().error().message,
              AllOf(StartsWith(path_.string()), HasSubstr("disk is full")));
}

TEST_F(DatabaseTest, ALockThatStaysIsNamed) {
  MakeStore(1);
  const Database holder = *Database::OpenReadWrite(path_);
  ASSERT_TRUE(holder.Execute("BEGIN IMMEDIATE").ok());
  const Database waiter = *Database::OpenReadWrite(path_);
  sqlite3_busy_timeout(waiter.get(), 20);
  const Result<Transaction> refused = Transaction::Begin(waiter);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("another process has kept the file locked"));
  EXPECT_EQ(CountRuns(Store::Mode::kReadOnly), "1 runs");  // readers do not wait for a writer
}

}  // namespace
}  // namespace tench::database_test
