// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags of commands that read a store: file, study, and filter of cells. The store is opened
// read-only and belongs to the caller.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {

class StudyFlags {
 public:
  enum class With { kStudy, kStudyAndFilter };
  void AddTo(CLI::App& app, With with = With::kStudyAndFilter);

  // The same file as an argument, for commands without another one.
  void AddFileTo(CLI::App& app);

  // Read-only; the database of a bundle is extracted into a folder that lives as long as the flags.
  Result<Store> Open() const;
  // The requested study, which exists. Without --study it is the newest one that has a run of the
  // filter, and a note on stderr counts the others; if no study has, it is nullopt, as for
  // `--study all`: every run of the file.
  Result<std::optional<int64_t>> Study(Store& store) const;
  // The same, but the default is the newest such study of each machine.
  Result<std::vector<int64_t>> StudyOfEachMachine(Store& store) const;
  Result<RunSelector> Filter() const;
  const std::string& database() const { return database_; }

 private:
  mutable std::shared_ptr<TemporaryFolder> extracted_;
  std::string database_, study_;
  std::vector<std::string> only_;
};

}  // namespace tench
