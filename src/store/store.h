// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of all studies in one SQLite file (WAL mode, synchronous=FULL). A run is written in
// one transaction with its summary and its series; after AddRun returns, a power cut cannot lose
// it. The schema has a version and migrations; a newer file is refused. The axis columns come from
// the axis table.
//
// Invariants: runs are only added; of a stored run, only the noise judgement changes.
// Thread safety: one Store belongs to one thread. Several processes may use one file: writes are
// short and wait for each other.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "store/record.h"

namespace tench {

struct RunFilter {
  std::optional<int64_t> study;
  std::optional<std::string> cell_id;
  std::optional<int64_t> run;
};

class Store {
 public:
  enum class Mode { kReadOnly, kReadWrite };

  // kReadWrite makes the file and its folder's missing last part; kReadOnly needs an existing one.
  // Errors tell a foreign, truncated, damaged, newer or unwritable file apart.
  static Result<Store> Open(const std::filesystem::path& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Result<int64_t> AddStudy(const StudyRecord& study);
  // Raises the planned rounds or cells of a study that goes on.
  Status ExtendStudy(int64_t study, int64_t rounds, int64_t cells);
  Result<std::vector<StudyRecord>> Studies();  // oldest first
  // The newest study of that suite, fingerprint, machine and filter.
  Result<std::optional<StudyRecord>> FindStudy(const std::string& suite,
                                               const std::string& fingerprint,
                                               const std::string& machine_id,
                                               const std::string& filter);

  // One process at a time works on a study. Fails, naming the other process, if it is alive; freed
  // by ReleaseStudy or by its death.
  Status ClaimStudy(int64_t study);
  Status ReleaseStudy(int64_t study);

  // A study has each (round, cell, attempt) once. Where that attempt is there already as
  // `interrupted`, the run becomes the next attempt.
  Result<int64_t> AddRun(const RunRecord& run, const RunSeries& series);
  // Stores the noise judgement of a run, which needs the runs that came after it.
  Status SetNoise(int64_t run, bool slow, bool disturbed);
  // All that `work` adds through this store becomes durable together, or nothing of it does, and no
  // other process writes in between: for importing many runs at once, or for a look and a write
  // that belong together.
  Status InOneTransaction(const std::function<Status()>& work);
  // (round, cell id) of every run that need not be repeated: all outcomes but `interrupted`.
  Result<std::set<std::pair<int64_t, std::string>>> FinishedRuns(int64_t study);

  // Parity is kept once per worker, version, network and setting; a later finding replaces an
  // earlier one.
  Status SetParity(const ParityRecord& parity);
  Result<std::optional<ParityRecord>> FindParity(const std::string& worker,
                                                 const std::string& worker_version,
                                                 const std::string& fingerprint,
                                                 const std::string& setting);
  Result<std::vector<ParityRecord>>
  Parities();  // ordered by worker, version, fingerprint and setting

  // Without series; oldest first. `each` returning false ends the walk.
  Status ForEachRun(const RunFilter& filter, const std::function<bool(const RunRecord&)>& each);
  Result<RunSeries> Series(int64_t run);

 private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
