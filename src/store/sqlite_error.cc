// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_error.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "base/text.h"

namespace tench {
namespace {

int LastErrno(sqlite3* db, int which_file) {
  sqlite3_file* file = nullptr;
  int last = 0;
  if (sqlite3_file_control(db, "main", which_file, &file) != SQLITE_OK || file == nullptr ||
      file->pMethods == nullptr)
    return 0;
  return file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &last) == SQLITE_OK ? last : 0;
}

// SQLite drops errno when a commit fails, but its file handles keep it.
int SystemErrno(sqlite3* db, int primary) {
  if (db == nullptr || (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN)) return 0;
  if (const int known = sqlite3_system_errno(db); known != 0) return known;
  if (const int of_log = LastErrno(db, SQLITE_FCNTL_JOURNAL_POINTER); of_log != 0) return of_log;
  return LastErrno(db, SQLITE_FCNTL_FILE_POINTER);
}

bool IsDiskFull(int code, int system_errno) {
  if (code == SQLITE_FULL) return true;
  // SQLite reports an exceeded quota or file-size limit as a generic write error.
  return code == SQLITE_IOERR &&
         (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG);
}

std::string Reason(sqlite3* db, int code, int system_errno) {
  if (system_errno != 0) return std::strerror(system_errno);
  return db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
}

}  // namespace

Error NotADatabase(std::string_view path) {
  return Failed("{}: this is not a tench results file (not an SQLite database); use another file",
                path);
}

Error Damaged(std::string_view path, std::string_view detail) {
  const std::string rescued = std::string(path) + ".rescued";
  return Failed(
      "{}: the file is truncated or damaged ({}); recover it with `sqlite3 {} .recover | sqlite3 "
      "{}`, or use another file",
      path, detail, ShellQuote(path), ShellQuote(rescued));
}

Error SqliteError(sqlite3* db, int code, std::string_view path) {
  std::string file(path);
  if (file.empty() && db != nullptr) {
    const char* name = sqlite3_db_filename(db, "main");
    file = name != nullptr && *name != 0 ? name : "the results file";
  }
  const int primary = code & 0xff;
  const int system_errno = SystemErrno(db, primary);
  if (IsDiskFull(primary, system_errno)) {
    return Failed(
        "{}: the disk is full; earlier results are safe: free some space and repeat the command",
        file);
  }
  switch (primary) {
    case SQLITE_NOTADB:
      return NotADatabase(file);
    case SQLITE_CORRUPT:
      return Damaged(file, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Failed(
          "{}: another process has kept the file locked for more than {} s; try again when it has "
          "finished",
          file, kBusyTimeoutMs / 1000);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Failed(
          "{}: no permission to write the file or its folder; change it or use another file", file);
    case SQLITE_CANTOPEN:
      return Failed("{}: cannot be opened: {}", file, Reason(db, code, system_errno));
    case SQLITE_IOERR:
      return Failed("{}: reading or writing failed: {}", file, Reason(db, code, system_errno));
    case SQLITE_NOMEM:
      return Error{file + ": out of memory", ErrorKind::kOutOfMemory};
    default:
      return Failed("{}: {} (SQLite code {})", file,
                    db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code), code);
  }
}

}  // namespace tench
