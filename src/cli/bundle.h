// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bundle: one archive with all that a reader needs to check or repeat a study, for artifact
// evaluation. Its files are in a folder `tench-bundle`:
//   README.txt      contents and commands
//   results.db      the study's runs with every step, and the parity results
//   runs.csv        one record per run
//   suite.yaml      the suite, if the study stored it
//   machine.json    facts about the machine when the study began
//   commands.sh     the sweep, and the command of every cell
//   pins/           the pinned versions of packages and wheels
//   logs/N.txt      the end of the worker's output of run N
// Thread safety: none.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "store/store.h"

namespace tench {

struct BundleRequest {
  std::filesystem::path output;
  std::filesystem::path database;  // names the sweep's file in commands.sh
  std::filesystem::path pins;      // a folder; skipped if it does not exist
  std::optional<int64_t> study;    // nullopt = everything in the file
  std::string version;             // of tench
};

struct BundleCounts {
  int64_t runs = 0, logs = 0;
};

// `progress` is called with the number of runs so far.
Result<BundleCounts> WriteBundle(Store& store, const BundleRequest& request,
                                 const std::function<void(int64_t runs)>& progress);

// A results file that is open for reading: a database, or the database of a bundle, which is
// extracted into a temporary folder.
struct ResultsFile {
  std::optional<TemporaryFolder> folder;
  Store store;

  static Result<ResultsFile> Open(const std::filesystem::path& path);
};

}  // namespace tench
