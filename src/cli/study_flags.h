// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags of commands that read a store: file, study, and filter of cells. The store is opened
// read-only and belongs to the caller.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {

class StudyFlags {
 public:
  enum class With { kStudy, kStudyAndFilter };
  void AddTo(CLI::App& app, With with = With::kStudyAndFilter);

  Result<Store> Open() const;  // read-only
  // The id of the study asked for, which exists; "latest" is the newest; nullopt = all studies.
  Result<std::optional<int64_t>> Study(Store& store) const;
  Result<RunSelector> Filter() const;
  const std::string& database() const { return database_; }

 private:
  std::string database_, study_;
  std::vector<std::string> only_;
};

}  // namespace tench
