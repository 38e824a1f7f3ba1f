// SPDX-License-Identifier: Apache-2.0
#pragma once
// A study on scripted workers in a folder of its own, for the tests of the runner.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "run/session/test_worker.h"
#include "run/study/runner.h"

namespace tench {

class RecordedEvents : public RunnerEvents {
 public:
  void OnIdentify(const std::string& worker) override { identified.push_back(worker); }
  void OnNewStudy(const std::string& reason) override { why_new = reason; }
  void OnStudy(const StudyProgress& progress) override { begun = progress; }
  void OnTuning(const StudyTuning& tuning) override { tunings.push_back(tuning); }
  void OnRounds(const std::string& group, const std::string& reason) override {
    in_rounds[group] = reason;
  }
  void OnStart(const StudyProgress&, const PlannedCell&) override {}
  void OnProgress(const StudyProgress&, const PlannedCell&, const RunProgress&) override {}
  void OnFinish(const StudyProgress& progress, const RunRecord& run) override {
    last = progress;
    runs.push_back(run);
    if (stop && static_cast<int>(runs.size()) == stop_after) stop->RequestStop();
    if (on_finish) on_finish();
  }

  StudyProgress begun, last;
  std::vector<std::string> identified;
  std::string why_new;
  std::map<std::string, std::string> in_rounds;
  std::function<void()> on_finish;
  std::vector<RunRecord> runs;
  std::vector<StudyTuning> tunings;
  StopSource* stop = nullptr;
  int stop_after = 0;
};

// A shell script that ends within milliseconds, because these tests cover the study, not the
// worker.
inline constexpr const char* kQuickWorker = R"(#!/bin/sh
cat >&3 <<'END'
{"type":"hello","worker":{"protocol":1,"name":"quick","version":"1","ops":[],"devices":["cpu"],"precisions":["f32"]}}
{"type":"build","build_ns":1}
{"type":"steps","first":0,"step_ns":[5,5,5],"loss":[3,2,1]}
{"type":"result","converged":true}
END
)";

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path quick = workers_.folder() / "tench-worker-quick";
    std::ofstream(quick) << kQuickWorker;
    std::filesystem::permissions(quick, std::filesystem::perms::owner_all);
    catalog_ = WorkerCatalog::Discover({workers_.folder()});
    // The files of a killed runner are deleted with the test's folder.
    setenv("TMPDIR", workers_.folder().c_str(), 1);
    setenv("XDG_CACHE_HOME", workers_.folder().c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    unsetenv("XDG_CACHE_HOME");
  }

  // Another build of the worker, as a new tench process finds it.
  void Rebuild(const std::string& worker) {
    std::ofstream(workers_.folder() / ("tench-worker-" + worker), std::ios::app) << "# changed\n";
    catalog_ = WorkerCatalog::Discover({workers_.folder()});
  }
  std::vector<StudyRecord> Studies() {
    return *Store::Open(database_, Store::Mode::kReadOnly)->Studies();
  }

  StudyRequest Request(const std::string& worker, const std::vector<std::string>& batches,
                       int64_t rounds, const std::string& behaviour = "ok") {
    StudyRequest request;
    request.suite = "test";
    request.suite_fingerprint = "0123";
    request.rounds = rounds;
    for (const auto& batch : batches)
      request.cells.push_back(FakeCell(behaviour, {{"worker", worker}, {"batch", batch}}));
    return request;
  }

  Result<StudyResult> Run(const StudyRequest& request) {
    Store store = *Store::Open(database_, Store::Mode::kReadWrite);
    events_ = {};
    events_.on_finish = on_finish_;
    events_.stop = &stop_;
    events_.stop_after = stop_after_;
    return RunStudy(store, catalog_, request, events_, stop_.token());
  }

  std::vector<RunRecord> Stored() {
    std::vector<RunRecord> runs;
    Result<Store> store = Store::Open(database_, Store::Mode::kReadOnly);
    if (!store) return runs;
    EXPECT_TRUE(store->ForEachRun({}, [&](const RunRecord& run) {
      runs.push_back(run);
      return true;
    }));
    return runs;
  }

  // Number of finished runs per (round, cell).
  std::map<std::pair<int64_t, std::string>, int> Finished() {
    std::map<std::pair<int64_t, std::string>, int> finished;
    for (const auto& run : Stored()) {
      if (run.outcome != Outcome::kInterrupted) ++finished[{run.round, run.cell_id}];
    }
    return finished;
  }

  TestWorkers workers_;
  WorkerCatalog catalog_;
  const std::filesystem::path database_ = workers_.folder() / "r.db";
  RecordedEvents events_;
  StopSource stop_;
  std::function<void()> on_finish_;
  int stop_after_ = 0;
};

}  // namespace tench
