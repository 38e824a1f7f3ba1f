// SPDX-License-Identifier: Apache-2.0
#include "store/statement.h"

#include <cmath>
#include <limits>

#include "store/sqlite_error.h"

namespace tench {

Result<Statement> Statement::Prepare(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(db, code);
  return Statement(statement);
}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(bind_code_, other.bind_code_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::Remember(int code) {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
}

void Statement::Bind(int parameter, int64_t value) {
  Remember(sqlite3_bind_int64(statement_, parameter, value));
}

void Statement::Bind(int parameter, double value) {
  if (std::isnan(value)) return Bind(parameter, std::string_view("nan"));
  Remember(sqlite3_bind_double(statement_, parameter, value));
}

void Statement::Bind(int parameter, std::string_view text) {
  // An empty view may have a null pointer, which SQLite would bind as NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  Remember(
      sqlite3_bind_text64(statement_, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::BindCopy(int parameter, std::string_view text) {
  const char* data = text.data() != nullptr ? text.data() : "";
  Remember(
      sqlite3_bind_text64(statement_, parameter, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::BindBlob(int parameter, std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  Remember(sqlite3_bind_blob64(statement_, parameter, data, bytes.size(), SQLITE_STATIC));
}

void Statement::BindNull(int parameter) { Remember(sqlite3_bind_null(statement_, parameter)); }

Error Statement::Failure(int code) const {
  return SqliteError(sqlite3_db_handle(statement_), code);
}

Result<bool> Statement::Step() {
  if (bind_code_ != SQLITE_OK) return Failure(std::exchange(bind_code_, SQLITE_OK));
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  // sqlite3_reset overwrites the connection's error message, so it is read first.
  Error error = Failure(sqlite3_extended_errcode(sqlite3_db_handle(statement_)));
  sqlite3_reset(statement_);
  return error;
}

Status Statement::Run() {
  while (TENCH_TRY(Step())) {
  }
  Reset();
  return Ok();
}

void Statement::Reset() { sqlite3_reset(statement_); }

double Statement::Real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_TEXT)
    return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_, column);
}

std::string_view Statement::Text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return data == nullptr ? std::string_view()
                         : std::string_view(
                               data, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

std::string_view Statement::Blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data == nullptr ? std::string_view()
                         : std::string_view(
                               data, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace tench
