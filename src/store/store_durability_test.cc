// SPDX-License-Identifier: Apache-2.0
// Acknowledged runs survive killed processes, concurrent writers and a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/file.h"
#include "store/database.h"
#include "store/store.h"
#include "store/test_run.h"

namespace tench::store_durability_test {
namespace {

using testing::HasSubstr;

// Series derived from the run's number, which is also its round.
RunSeries NumberedSeries(int64_t number) {
  RunSeries series;
  series.step_ns.assign(200, number);
  series.loss.assign(200, static_cast<double>(number));
  return series;
}

class StoreDurabilityTest : public testing::Test {
 protected:
  StoreDurabilityTest()
      : folder_(*TemporaryFolder::Make("durability-test")), path_(folder_.path() / "results.db") {}

  // Runs in a child: stores runs from round `first` on, and writes each number to `acknowledge`
  // after its run is stored.
  [[noreturn]] void WriteRuns(int64_t study, int64_t first, int64_t count, int acknowledge) {
    Result<Store> store = Store::Open(path_, Store::Mode::kReadWrite);
    if (!store.ok()) _exit(2);
    for (int64_t number = first; number < first + count; ++number) {
      const Result<int64_t> id = store->AddRun(TestRun(study, number), NumberedSeries(number));
      if (!id.ok() || write(acknowledge, &number, sizeof number) != sizeof number) _exit(3);
    }
    _exit(0);
  }
  int64_t MakeStudy() {
    return *Store::Open(path_, Store::Mode::kReadWrite)->AddStudy(TestStudy());
  }
  void ExpectWhole() {
    Statement check = *Database::OpenReadWrite(path_)->Prepare("PRAGMA integrity_check");
    ASSERT_TRUE(*check.Step());
    EXPECT_EQ(check.Text(0), "ok");
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
};

TEST_F(StoreDurabilityTest, AKillAtAnyMomentLosesNoAcknowledgedRun) {
  const int64_t study = MakeStudy();
  std::mt19937 random(20261116);
  std::set<int64_t> acknowledged;
  for (int trial = 0; trial < 15; ++trial) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    const pid_t child = fork();
    if (child == 0) WriteRuns(study, trial * 100'000, 100'000, channel[1]);
    close(channel[1]);
    int64_t number = 0;
    ASSERT_EQ(read(channel[0], &number, sizeof number), ssize_t{sizeof number});
    acknowledged.insert(number);
    usleep(std::uniform_int_distribution<useconds_t>(0, 30'000)(random));
    kill(child, SIGKILL);
    while (read(channel[0], &number, sizeof number) == sizeof number) acknowledged.insert(number);
    close(channel[0]);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);

    Store store = *Store::Open(path_, Store::Mode::kReadOnly);
    std::set<int64_t> found;
    ASSERT_TRUE(store
                    .ForEachRun({.study = study, .cell_id = {}, .run = {}},
                                [&](const RunRecord& run) {
                                  found.insert(run.round);
                                  if (run.round >= trial * 100'000) {
                                    EXPECT_EQ(*store.Series(run.id), NumberedSeries(run.round));
                                  }
                                  return true;
                                })
                    .ok());
    EXPECT_TRUE(
        std::includes(found.begin(), found.end(), acknowledged.begin(), acknowledged.end()));
    // Each kill may leave at most one run that is stored but not acknowledged.
    EXPECT_LE(found.size(), acknowledged.size() + static_cast<size_t>(trial) + 1);
  }
  ExpectWhole();
}

TEST_F(StoreDurabilityTest, TwoProcessesWriteAtOnceAndBothGetEverythingIn) {
  constexpr int64_t kRuns = 40;
  const int64_t study = MakeStudy();
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  std::vector<pid_t> children;
  for (int64_t writer = 0; writer < 2; ++writer) {
    children.push_back(fork());
    if (children.back() == 0) WriteRuns(study, writer * kRuns, kRuns, channel[1]);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Store::Open(path_, Store::Mode::kReadOnly)->FinishedRuns(study)->size(),
            size_t{2 * kRuns});
  ExpectWhole();
  close(channel[0]);
  close(channel[1]);
}

TEST_F(StoreDurabilityTest, ManyProcessesMayMakeTheFileAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      Result<Store> store = Store::Open(path_, Store::Mode::kReadWrite);
      if (!store.ok()) (void)!write(2, store.error().message.data(), store.error().message.size());
      _exit(store.ok() && store->AddRun(TestRun(), {}).ok() ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(*Database::OpenReadWrite(path_)->Integer("SELECT count(*) FROM run"), 8);
}

// A file-size limit simulates a full disk: SQLite's writes fail at the same place, and the test can
// lift the limit.
TEST_F(StoreDurabilityTest, AFullDiskIsSaidAndLosesNothing) {
  const int64_t study = MakeStudy();
  const auto limit_file_size = [](rlim_t bytes) {
    rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = std::min(bytes, limit.rlim_max);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  };
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  Store store = *Store::Open(path_, Store::Mode::kReadWrite);
  limit_file_size(400'000);
  int64_t stored = 0;
  std::string error;
  for (; error.empty() && stored < 10'000; ++stored) {
    const Result<int64_t> id = store.AddRun(TestRun(study, stored), NumberedSeries(stored));
    if (!id.ok()) error = id.error().message;
  }
  --stored;
  const bool second_fails_too = !store.AddRun(TestRun(study, 99'999), NumberedSeries(0)).ok();
  limit_file_size(RLIM_INFINITY);
  signal(SIGXFSZ, old_handler);

  EXPECT_THAT(error, HasSubstr("the disk is full"));
  EXPECT_GT(stored, 10);
  EXPECT_TRUE(second_fails_too);
  EXPECT_EQ(store.FinishedRuns(study)->size(), static_cast<size_t>(stored));
  EXPECT_TRUE(store.AddRun(TestRun(study, stored), NumberedSeries(stored)).ok());
  EXPECT_EQ(Store::Open(path_, Store::Mode::kReadOnly)->FinishedRuns(study)->size(),
            static_cast<size_t>(stored + 1));
  ExpectWhole();
}

}  // namespace
}  // namespace tench::store_durability_test
