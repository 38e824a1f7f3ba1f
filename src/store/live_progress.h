// SPDX-License-Identifier: Apache-2.0
#pragma once
// The progress of a running study, for a reader in another process (`tench serve`): a small file
// beside the results file, TENCH.DB-live-STUDY. The database itself gets a run when it has ended.
//
// The file holds a line with a hash and a length, and a JSON text of that length. It is overwritten
// in place with one write and never synced. A reader that finds a half-written text sees it by the
// hash and reads again.
//
// Ownership: LiveProgressFile owns the file and removes it. A killed process leaves it behind;
// ReadLiveProgress ignores the file of a dead process.
// Thread safety: one thread per LiveProgressFile; reading is safe from anywhere.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "store/process_identity.h"

namespace tench {

struct LiveLoss {
  int64_t step = 0;  // timed, from 1
  double loss = 0;
};

// The run in progress.
struct LiveRun {
  std::string worker, network, phase, label;  // label: the whole cell
  std::string stage;                          // "building", "measuring", …
  int64_t batch = 0;
  int64_t steps = 0;  // timed so far
  double last_step_ns = 0;
  int64_t rss_bytes = 0;
  std::vector<LiveLoss> losses;  // thinned
};

struct LiveProgress {
  int64_t study = 0;
  int64_t done = 0, total = 0;  // runs
  int64_t round = 0, rounds = 0;
  int64_t disturbed = 0, repeats = 0;
  double eta_ns = 0;  // 0 = unknown
  std::optional<LiveRun> run;
};

std::filesystem::path LiveProgressPath(const std::filesystem::path& database, int64_t study);

class LiveProgressFile {
 public:
  static Result<LiveProgressFile> Create(const std::filesystem::path& database, int64_t study);
  LiveProgressFile(LiveProgressFile&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        file_(std::move(other.file_)),
        process_(std::move(other.process_)) {}
  LiveProgressFile& operator=(LiveProgressFile&&) = delete;
  ~LiveProgressFile();

  Status Write(const LiveProgress& progress);

 private:
  LiveProgressFile(std::filesystem::path path, Fd file)
      : path_(std::move(path)), file_(std::move(file)), process_(ThisProcess()) {}

  std::filesystem::path path_;  // empty = moved from
  Fd file_;
  ProcessIdentity process_;
};

// nullopt if no process works on the study, or if its file is not readable.
std::optional<LiveProgress> ReadLiveProgress(const std::filesystem::path& database, int64_t study);

}  // namespace tench
