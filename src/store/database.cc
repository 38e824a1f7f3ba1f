// SPDX-License-Identifier: Apache-2.0
#include "store/database.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "store/sqlite_error.h"

namespace tench {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kHeaderBytes = 100;
constexpr int kPageSizeOffset = 16, kApplicationIdOffset = 68;

sqlite3_file* FileOf(sqlite3* db) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  Check(file != nullptr && file->pMethods != nullptr, "SQLite has no handle of an open file");
  return file;
}

uint64_t BigEndian(const unsigned char* bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

bool HasContent(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  return !error && size != 0;
}

// A URI in which characters of the path cannot be mistaken for parameters.
std::string UriOf(const std::filesystem::path& path, std::string_view parameters) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?" + std::string(parameters);
}

// SQLite reads a file in WAL mode only if it can create the shared-memory index beside it. In a
// folder without write permission and without a pending log, the file cannot change, so it is safe
// to open as immutable.
bool MayBeReadAsIs(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return access(folder.c_str(), W_OK) != 0 && !HasContent(path.string() + "-wal");
}

// SQLite reports these cases as "unable to open", or a file of one byte as empty.
Status CheckIsFile(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status))
    return Failed("{}: this is a folder, not a results file", path.string());
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return NotADatabase(path.string());
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) == 1)
    return NotADatabase(path.string());
  return Ok();
}

Status MakeFolder(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) std::filesystem::create_directory(folder, error);
  if (error) return Failed("{}: cannot create the folder: {}", folder.string(), error.message());
  // SQLite would retry read-only and hide the reason.
  if (!std::filesystem::exists(path, error) && access(folder.c_str(), W_OK | X_OK) != 0) {
    return Failed("{}: cannot be created: {}", path.string(), std::strerror(errno));
  }
  return Ok();
}

}  // namespace

Result<Database> Database::Open(const std::string& name, int flags,
                                const std::filesystem::path& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(db);
  if (code != SQLITE_OK) return SqliteError(db, code, path.string());
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
  TENCH_TRY(database.RefuseForeign());
  return database;
}

Result<Database> Database::OpenReadWrite(const std::filesystem::path& path) {
  TENCH_TRY(CheckIsFile(path));
  TENCH_TRY(MakeFolder(path));
  Database database =
      TENCH_TRY(Open(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path));
  // SQLite silently opens a write-protected file read-only.
  if (sqlite3_db_readonly(database.get(), "main") == 1)
    return SqliteError(nullptr, SQLITE_READONLY, path.string());
  TENCH_TRY(database.Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  return database;
}

Result<Database> Database::OpenReadOnly(const std::filesystem::path& path) {
  TENCH_TRY(CheckIsFile(path));
  std::error_code error;
  if (!std::filesystem::exists(path, error) &&
      (!error || error == std::errc::no_such_file_or_directory)) {
    return Failed("{}: there is no such file: no results have been stored there yet",
                  path.string());
  }
  Database database = TENCH_TRY(Open(path.string(), SQLITE_OPEN_READONLY, path));
  const Result<int64_t> first_read = database.Integer("PRAGMA user_version");
  const int code = sqlite3_errcode(database.get()) & 0xff;
  if (!first_read.ok() && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) &&
      MayBeReadAsIs(path)) {
    return Open(UriOf(path, "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path);
  }
  if (!first_read.ok()) return first_read.error();
  return database;
}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(db_, other.db_);
  return *this;
}

Database::~Database() { sqlite3_close_v2(db_); }

std::string Database::path() const { return sqlite3_db_filename(db_, "main"); }

Result<bool> Database::IsEmpty() const {
  sqlite3_file* file = FileOf(db_);
  sqlite3_int64 size = 0;
  const int code = file->pMethods->xFileSize(file, &size);
  if (code != SQLITE_OK) return SqliteError(db_, code);
  return size == 0;
}

// Reads through SQLite's file handle, because closing another descriptor of the file would drop
// this process's POSIX locks on it.
Status Database::RefuseForeign() const {
  if (TENCH_TRY(IsEmpty())) return Ok();
  std::array<unsigned char, kHeaderBytes> header{};
  sqlite3_file* file = FileOf(db_);
  const int code = file->pMethods->xRead(file, header.data(), kHeaderBytes, 0);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return SqliteError(db_, code);
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) return NotADatabase(path());
  if (code == SQLITE_IOERR_SHORT_READ) return Damaged(path(), "its header is cut off");
  const uint64_t id = BigEndian(header.data() + kApplicationIdOffset, 4);
  if (id != kApplicationId) {
    return Failed(
        "{}: this SQLite database belongs to another program (application id 0x{:08x}); use "
        "another file",
        path(), id);
  }
  return RefuseCutOff(BigEndian(header.data() + kPageSizeOffset, 2));
}

// SQLite detects missing pages but not a truncated last page. With a log or a journal, SQLite
// restores such a page itself.
Status Database::RefuseCutOff(uint64_t page_bytes) const {
  sqlite3_file* file = FileOf(db_);
  sqlite3_int64 size = 0;
  if (const int code = file->pMethods->xFileSize(file, &size); code != SQLITE_OK)
    return SqliteError(db_, code);
  if (page_bytes == 1) page_bytes = 65536;  // the two-byte field encodes 65536 as 1
  const bool restorable = HasContent(path() + "-wal") || HasContent(path() + "-journal");
  if (page_bytes == 0 || restorable || static_cast<uint64_t>(size) % page_bytes == 0) return Ok();
  return Damaged(path(), "its last page is cut off");
}

Status Database::Execute(const std::string& sql) const {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(db_, code);
  return Ok();
}

Result<int64_t> Database::Integer(std::string_view sql) const {
  Statement statement = TENCH_TRY(Prepare(sql));
  return TENCH_TRY(statement.Step()) ? statement.Integer(0) : 0;
}

Status Database::UseWriteAheadLog() const {
  // Switching to WAL needs an exclusive lock, for which SQLite's busy handler does not wait.
  const int64_t deadline = NowNs() + int64_t{kBusyTimeoutMs} * 1'000'000;
  while (true) {
    const Status status = Execute("PRAGMA journal_mode = WAL");
    if (status.ok() || (sqlite3_errcode(db_) & 0xff) != SQLITE_BUSY || NowNs() > deadline)
      return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Result<Transaction> Transaction::Begin(const Database& database) {
  const bool outer = sqlite3_get_autocommit(database.get()) != 0;
  TENCH_TRY(database.Execute(outer ? "BEGIN IMMEDIATE" : "SAVEPOINT part"));
  return Transaction(&database, outer);
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // After some failures (a full disk) SQLite has already rolled back, and no transaction is open.
  if (sqlite3_get_autocommit(database_->get()) != 0) return;
  (void)database_->Execute(outer_ ? "ROLLBACK" : "ROLLBACK TO part; RELEASE part");
}

Status Transaction::Commit() {
  TENCH_TRY(database_->Execute(outer_ ? "COMMIT" : "RELEASE part"));
  database_ = nullptr;
  return Ok();
}

}  // namespace tench
