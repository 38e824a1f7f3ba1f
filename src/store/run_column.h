// SPDX-License-Identifier: Apache-2.0
#pragma once
// The columns of the table `run`: one row per value of a RunRecord, and one per axis. A row drives
// the schema, the insert and the select. A column that an older file lacks is added when the file
// is opened for writing, and read as its default otherwise. So a new axis or measurement needs no
// migration. The keys of a run and its long texts are in store.cc.

#include <functional>
#include <span>
#include <string>

#include "store/record.h"
#include "store/statement.h"

namespace tench {

struct RunColumn {
  std::string name;
  std::string type;      // "INTEGER", "REAL" or "TEXT"
  std::string fallback;  // SQL literal; "NULL" for a value that may be missing
  std::function<void(Statement& statement, int parameter, const RunRecord& run)> bind;
  // Returns false if this version does not know the value.
  std::function<bool(const Statement& statement, int column, RunRecord& run)> read;

  std::string Definition() const;  // for CREATE and ALTER TABLE
};

// Built once, in the order of the table.
std::span<const RunColumn> RunColumns();

// "name" as an SQL identifier, 'text' as an SQL literal.
std::string QuoteName(std::string_view name);
std::string QuoteText(std::string_view text);

}  // namespace tench
