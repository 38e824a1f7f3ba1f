// SPDX-License-Identifier: Apache-2.0
#pragma once
// One prepared SQLite statement. Parameters count from 1 as in SQL, columns from 0. A failed Bind
// is reported by the next Step, so that bindings read as a plain list. NaN, which SQLite would
// store as NULL, is stored as the text 'nan'.
//
// Ownership: owns the statement. Texts and blobs are views: bound ones must outlive the Step,
// returned ones end with the next Step or Reset.

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace tench {

class Statement {
 public:
  static Result<Statement> Prepare(sqlite3* db, std::string_view sql);
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)),
        bind_code_(std::exchange(other.bind_code_, 0)) {}
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  void Bind(int parameter, int64_t value);
  void Bind(int parameter, double value);
  void Bind(int parameter, bool value) { Bind(parameter, int64_t{value}); }
  void Bind(int parameter, std::string_view text);
  void Bind(int parameter, const std::string& text) { Bind(parameter, std::string_view(text)); }
  void Bind(int parameter, const char* text) { Bind(parameter, std::string_view(text)); }
  // For a text that may be destroyed before the Step.
  void BindCopy(int parameter, std::string_view text);
  void BindBlob(int parameter, std::string_view bytes);
  void BindNull(int parameter);
  template <class T>
  void Bind(int parameter, const std::optional<T>& value) {
    value ? Bind(parameter, *value) : BindNull(parameter);
  }

  // Returns true if there is a row to read, false at the end.
  Result<bool> Step();
  // For statements that only write: steps to the end, ignoring rows, and resets.
  Status Run();
  // Prepares for another Bind and Step; the bindings stay.
  void Reset();

  bool IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;

 private:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void Remember(int code);
  Error Failure(int code) const;

  sqlite3_stmt* statement_ = nullptr;
  int bind_code_ = SQLITE_OK;
};

}  // namespace tench
