// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection to an SQLite file that is tench's or empty. Open inspects the first bytes before
// any write, and refuses the file of another program. Not aware of tables, which schema.h creates.
//
// Thread safety: none.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "store/statement.h"

namespace tench {

// In the header of every tench results file ("tnch").
inline constexpr uint32_t kApplicationId = 0x746e6368;

class Database {
 public:
  // Creates an empty file if there is none.
  static Result<Database> OpenReadWrite(const std::filesystem::path& path);
  static Result<Database> OpenReadOnly(const std::filesystem::path& path);
  Database(Database&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Database& operator=(Database&& other) noexcept;
  ~Database();

  sqlite3* get() const { return db_; }
  std::string path() const;
  // True if the file has no bytes yet.
  Result<bool> IsEmpty() const;

  Result<Statement> Prepare(std::string_view sql) const { return Statement::Prepare(db_, sql); }
  Status Execute(const std::string& sql) const;
  // The first column of the first row; 0 if there is none.
  Result<int64_t> Integer(std::string_view sql) const;
  int64_t last_id() const { return sqlite3_last_insert_rowid(db_); }
  int64_t changes() const { return sqlite3_changes64(db_); }

  // Enables write-ahead logging with a sync per commit. If the file system does not support it
  // (some network shares), SQLite keeps its rollback journal, which is as durable and slower.
  Status UseWriteAheadLog() const;

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  static Result<Database> Open(const std::string& name, int flags,
                               const std::filesystem::path& path);
  Status RefuseForeign() const;
  Status RefuseCutOff(uint64_t page_bytes) const;

  sqlite3* db_ = nullptr;
};

// An atomic transaction: Commit applies it, destruction rolls it back. Takes the write lock at
// once, so that no later statement fails for a lock. Nested transactions are savepoints of the
// outer one.
class Transaction {
 public:
  static Result<Transaction> Begin(const Database& database);
  Transaction(Transaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), outer_(other.outer_) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Status Commit();

 private:
  Transaction(const Database* database, bool outer) : database_(database), outer_(outer) {}

  const Database* database_ = nullptr;
  bool outer_ = true;
};

}  // namespace tench
