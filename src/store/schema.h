// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables and their versions. A file has the version of its schema. Migrations update an older
// file, in order and in one transaction; a newer file is refused. A read-only file is accepted if
// only columns are missing, which are then read as their defaults.
// Columns of `run` are not versioned: see run_column.h.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/database.h"

namespace tench {

struct Migration {
  int64_t version = 0;  // of the file after `apply`
  std::function<Status(const Database&)> apply;
  // The migration only adds columns, or tables whose absence means no rows, so that a file without
  // it is readable.
  bool columns_only = false;
};

// Ordered by version; the last version is the one that this program reads and writes.
std::span<const Migration> Migrations();

// Creates or updates the tables. Concurrent processes are safe: one migrates, the others wait and
// find the tables up to date.
Status Migrate(const Database& database, std::span<const Migration> migrations);
// For a read-only file, which must have all tables but may lack columns.
Status CheckVersion(const Database& database, std::span<const Migration> migrations);

// The names of the table's columns.
Result<std::set<std::string>> ColumnNames(const Database& database, const std::string& table);

// A column that older files lack, and the SQL literal that replaces it.
struct LaterColumn {
  std::string_view name, fallback;
};
// The list of a SELECT over `columns`: "a, b, '{}'".
Result<std::string> SelectList(const Database& database, const std::string& table,
                               std::span<const std::string_view> columns,
                               std::span<const LaterColumn> later);

}  // namespace tench
