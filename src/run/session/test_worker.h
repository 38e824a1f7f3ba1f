// SPDX-License-Identifier: Apache-2.0
#pragma once
// For the tests of this folder: a temporary folder that contains tench-worker-fake
// (tests/e2e/fake_worker.py), and cells that select its behaviour.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "plan/matrix.h"
#include "run/session/worker_catalog.h"

namespace tench {

class TestWorkers {
 public:
  TestWorkers() {
    std::filesystem::create_symlink(
        std::filesystem::path(TENCH_SOURCE_DIR) / "tests" / "e2e" / "fake_worker.py",
        folder_.path() / "tench-worker-fake");
    catalog_ = WorkerCatalog::Discover({folder_.path()});
  }

  WorkerCatalog& catalog() { return catalog_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string pid_file() const { return (folder_.path() / "pids").string(); }

  // The process ids in pid_file, and those among them that are alive.
  std::vector<int64_t> Noted() const {
    std::vector<int64_t> noted;
    const auto text = ReadFile(folder_.path() / "pids");
    if (!text) return noted;
    for (const auto& line : Split(*text, '\n')) {
      if (const auto pid = ParseInteger(line)) noted.push_back(*pid);
    }
    return noted;
  }
  std::vector<int64_t> AliveNoted() const {
    std::vector<int64_t> alive = Noted();
    std::erase_if(alive, [](int64_t pid) { return kill(static_cast<pid_t>(pid), 0) != 0; });
    return alive;
  }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-test-");
  WorkerCatalog catalog_;
};

// A small cell of the fake worker with a few short steps.
inline PlannedCell FakeCell(const std::string& behaviour,
                            const std::vector<std::pair<std::string, std::string>>& more = {}) {
  PlannedCell planned;
  EXPECT_TRUE(planned.cell.Set("worker", "fake"));
  EXPECT_TRUE(planned.cell.Set("network", "mlp"));
  EXPECT_TRUE(planned.cell.Set("threads", "1"));
  EXPECT_TRUE(planned.cell.Set("option.behaviour", behaviour));
  for (const auto& [name, text] : more) {
    const Status set = planned.cell.Set(name, text);
    EXPECT_TRUE(set) << set.error().message;
  }
  planned.id = planned.cell.Id();
  planned.budget.warmup_steps = 1;
  planned.budget.fixed_steps = 3;
  return planned;
}

}  // namespace tench
