// SPDX-License-Identifier: Apache-2.0
#include "store/live_progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "base/text.h"

namespace tench::live_progress_test {
namespace {

class LiveProgressTest : public testing::Test {
 protected:
  static LiveProgress Measuring(int64_t steps) {
    LiveProgress progress;
    progress.study = 3;
    progress.done = 7, progress.total = 20;
    progress.round = 1, progress.rounds = 5;
    progress.disturbed = 2, progress.repeats = 1;
    progress.eta_ns = 1.5e9;
    LiveRun run;
    run.worker = "native", run.network = "<lenet>", run.phase = "train", run.label = "native \"x\"";
    run.stage = "measuring";
    run.batch = 64, run.steps = steps, run.last_step_ns = 2.5e6, run.rss_bytes = 1 << 20;
    for (int64_t i = 1; i <= std::min<int64_t>(steps, 100); ++i)
      run.losses.push_back({i, 2.3 / static_cast<double>(i)});
    progress.run = run;
    return progress;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-live");
  const std::filesystem::path database_ = folder_.path() / "a.db";
};

TEST_F(LiveProgressTest, AReaderSeesWhatTheSweepWroteLast) {
  auto file = LiveProgressFile::Create(database_, 3);
  ASSERT_TRUE(file.ok());
  LiveProgress written = Measuring(50);
  written.run->losses.back().loss = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(file->Write(Measuring(90)).ok());
  ASSERT_TRUE(file->Write(written).ok()) << "a shorter text replaces a longer one";
  const auto read = ReadLiveProgress(database_, 3);
  ASSERT_TRUE(read && read->run);
  EXPECT_EQ(read->done, 7);
  EXPECT_EQ(read->total, 20);
  EXPECT_EQ(read->rounds, 5);
  EXPECT_EQ(read->disturbed, 2);
  EXPECT_EQ(read->repeats, 1);
  EXPECT_EQ(read->eta_ns, 1.5e9);
  EXPECT_EQ(read->run->network, "<lenet>");
  EXPECT_EQ(read->run->label, "native \"x\"");
  EXPECT_EQ(read->run->steps, 50);
  ASSERT_EQ(read->run->losses.size(), 50u);
  EXPECT_EQ(read->run->losses[1].step, 2);
  EXPECT_EQ(read->run->losses[1].loss, 1.15);
  EXPECT_TRUE(std::isnan(read->run->losses.back().loss));
  EXPECT_FALSE(ReadLiveProgress(database_, 4)) << "another study";
}

TEST_F(LiveProgressTest, TheFileGoesWithItsSweep) {
  {
    auto file = LiveProgressFile::Create(database_, 3);
    ASSERT_TRUE(file->Write(Measuring(1)).ok());
    EXPECT_TRUE(std::filesystem::exists(LiveProgressPath(database_, 3)));
  }
  EXPECT_FALSE(std::filesystem::exists(LiveProgressPath(database_, 3)));
  EXPECT_FALSE(ReadLiveProgress(database_, 3));
}

TEST_F(LiveProgressTest, TheFileOfADeadProcessIsIgnored) {
  auto file = LiveProgressFile::Create(database_, 3);
  ASSERT_TRUE(file->Write(Measuring(1)).ok());
  std::string text = *ReadFile(LiveProgressPath(database_, 3));
  text = text.substr(text.find('\n') + 1);
  const std::string mine = fmt::format("\"start_ticks\":{}", ThisProcess().start_ticks);
  ASSERT_NE(text.find(mine), std::string::npos);
  text.replace(text.find(mine), mine.size(), "\"start_ticks\":1");
  ASSERT_TRUE(WriteFileAtomically(LiveProgressPath(database_, 3),
                                  fmt::format("{} {}\n{}", Hex64(Hash64(text)), text.size(), text))
                  .ok());
  EXPECT_FALSE(ReadLiveProgress(database_, 3));
}

TEST_F(LiveProgressTest, ForeignAndDamagedFilesAreNoProgress) {
  for (const std::string text : {"", "x", "\n", "0 0\n", "0123456789abcdef 2\n{}", "a -1\n{}",
                                 "a 99999999999999999999\n{}"}) {
    ASSERT_TRUE(WriteFileAtomically(LiveProgressPath(database_, 3), text).ok());
    EXPECT_FALSE(ReadLiveProgress(database_, 3)) << text;
  }
  for (const std::string json : {"{}", "[]", "{\"study\":3}", "not json"}) {
    ASSERT_TRUE(
        WriteFileAtomically(LiveProgressPath(database_, 3),
                            fmt::format("{} {}\n{}", Hex64(Hash64(json)), json.size(), json))
            .ok());
    EXPECT_FALSE(ReadLiveProgress(database_, 3)) << json;
  }
}

TEST_F(LiveProgressTest, AReaderNeverSeesAMixtureOfTwoStates) {
  auto file = LiveProgressFile::Create(database_, 3);
  ASSERT_TRUE(file->Write(Measuring(1)).ok());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int64_t i = 0; i < 400; ++i) (void)file->Write(Measuring(1 + (i * 37) % 100));
    done = true;
  });
  int seen = 0;
  while (!done) {
    const auto read = ReadLiveProgress(database_, 3);
    if (!read) continue;
    ++seen;
    ASSERT_TRUE(read->run);
    ASSERT_EQ(read->run->losses.size(), static_cast<size_t>(read->run->steps));
  }
  writer.join();
  EXPECT_TRUE(ReadLiveProgress(database_, 3));
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace tench::live_progress_test
