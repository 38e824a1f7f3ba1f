// SPDX-License-Identifier: Apache-2.0
#pragma once
// The members of Store: the open file, its documents and the statements that are prepared once.
// Only the sources of Store include this header: store.cc (opening, studies and claims),
// store_run.cc (runs and their series) and store_parity.cc (parity results).

#include <array>
#include <optional>
#include <string>

#include "store/database.h"
#include "store/document.h"
#include "store/process_identity.h"
#include "store/store.h"

namespace tench {

class Store::Impl {
 public:
  explicit Impl(Database opened) : database(std::move(opened)) {}

  Result<Documents*> OpenDocuments() {
    if (!documents) documents.emplace(TENCH_TRY(Documents::Open(database)));
    return &*documents;
  }
  Result<int64_t> FreeAttempt(const RunRecord& run);
  Result<int64_t> InsertRun(const RunRecord& run);
  Status InsertSeries(int64_t run, const RunSeries& series);
  // Called after the update of a run: fails if the run does not exist.
  Status CheckChanged(int64_t run) const {
    if (database.changes() == 0) return Failed("{}: there is no run {}", database.path(), run);
    return Ok();
  }
  Status ReadRun(const Statement& statement, RunRecord& run, std::array<int64_t, 3>& seen);
  Result<std::optional<ProcessIdentity>> Claimant(int64_t study, std::string& since);

  Database database;
  std::optional<Documents> documents;
  std::optional<Statement> insert_run, insert_series;
};

}  // namespace tench
