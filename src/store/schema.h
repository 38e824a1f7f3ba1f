// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables and their versions. A file carries the version of its layout. Migrations update an
// older file, in order and in one transaction; a newer file is refused. Columns of `run` are not
// versioned: see run_column.h.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>

#include "base/error.h"
#include "store/database.h"

namespace tench {

struct Migration {
  int64_t version = 0;  // that the file has afterwards
  std::function<Status(const Database&)> apply;
};

// Ordered by version; the last one's version is the one that this tench reads and writes.
std::span<const Migration> Migrations();

// Makes or updates the tables. Several processes may do so at once: one does the work, the others
// wait and find it done.
Status Migrate(const Database& database, std::span<const Migration> migrations);
// For a file that may not be changed: it must have the tables already.
Status CheckVersion(const Database& database, std::span<const Migration> migrations);

// The names of the columns that the table has.
Result<std::set<std::string>> ColumnNames(const Database& database, const std::string& table);

}  // namespace tench
