// SPDX-License-Identifier: Apache-2.0
// Caffe's LMDB of Datum messages, in the order of its keys. The keys are read when it is opened,
// because LMDB has no access by position. The database is opened without locks, because it is not
// written; the folder may be read-only.
#include <lmdb.h>

#include "base/text.h"
#include "data/datum.h"
#include "data/lmdb_pages.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

struct CloseEnvironment {
  void operator()(MDB_env* env) const { mdb_env_close(env); }
};
struct AbortTransaction {
  void operator()(MDB_txn* txn) const { mdb_txn_abort(txn); }
};
struct CloseCursor {
  void operator()(MDB_cursor* cursor) const { mdb_cursor_close(cursor); }
};
using Environment = std::unique_ptr<MDB_env, CloseEnvironment>;
using Transaction = std::unique_ptr<MDB_txn, AbortTransaction>;
using Cursor = std::unique_ptr<MDB_cursor, CloseCursor>;

class LmdbSource : public SampleSource {
 public:
  static OpenedSource Open(const fs::path& path) {
    auto source = std::unique_ptr<LmdbSource>(new LmdbSource);
    const bool folder = fs::is_directory(path);
    source->file_ = folder ? path / "data.mdb" : path;
    TENCH_TRY(source->OpenEnvironment(path, folder));
    TENCH_TRY(source->ReadKeys());
    source->facts_.format = "lmdb";
    source->facts_.files = {source->file_};
    source->facts_.count = static_cast<int64_t>(source->keys_.size());
    StoredSample first;
    TENCH_TRY(source->Read(0, first));
    source->facts_.encoded = first.form == SampleForm::kJpeg || first.form == SampleForm::kPng;
    if (!source->facts_.encoded) source->facts_.shape = first.shape;
    return OpenedSource(std::move(source));
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const Transaction txn = TENCH_TRY(Begin());
    const std::string& text = keys_[static_cast<size_t>(index)];
    MDB_val key{text.size(), const_cast<char*>(text.data())}, value{};
    if (const int code = mdb_get(txn.get(), database_, &key, &value); code != 0)
      return Failed("{}: {}", Where(index), mdb_strerror(code));
    const std::string_view message(static_cast<const char*>(value.mv_data), value.mv_size);
    TENCH_TRY(ParseDatum(message, sample).In(Where(index)));
    if (!facts_.shape.empty() && sample.shape != facts_.shape)
      return Failed("{}: a Datum of {}, but the first one is {}", Where(index),
                    ToString(sample.shape), ToString(facts_.shape));
    return Ok();
  }

  std::string Where(int64_t index) const override {
    return fmt::format("{}: key '{}'", file_.string(),
                       Printable(keys_[static_cast<size_t>(index)], 80));
  }

 private:
  Status OpenEnvironment(const fs::path& path, bool folder) {
    std::error_code error;
    const auto bytes = fs::file_size(file_, error);
    if (error) return Failed("{}: cannot open: {}", file_.string(), error.message());
    const ByteFile file = TENCH_TRY(ByteFile::Open(file_));
    TENCH_TRY(CheckLmdbPages(file));
    MDB_env* env = nullptr;
    if (const int code = mdb_env_create(&env); code != 0) return Broken(code);
    environment_.reset(env);
    // Not the size of the writer's map, a tebibyte with Caffe, which a process may not have. LMDB
    // raises it to that of the used pages.
    if (const int code = mdb_env_set_mapsize(env, bytes); code != 0) return Broken(code);
    const unsigned flags =
        MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD | (folder ? 0 : MDB_NOSUBDIR);
    if (const int code = mdb_env_open(env, path.c_str(), flags, 0644); code != 0)
      return Broken(code);
    // A page beyond the end of the mapped file would end the process with SIGBUS.
    MDB_envinfo info{};
    MDB_stat pages{};
    mdb_env_info(env, &info);
    mdb_env_stat(env, &pages);
    const size_t needed = (info.me_last_pgno + 1) * size_t{pages.ms_psize};
    if (bytes < needed)
      return Failed("{}: offset {}: the file is truncated: its pages need {} bytes", file_.string(),
                    bytes, needed);
    return Ok();
  }

  Status ReadKeys() {
    const Transaction txn = TENCH_TRY(Begin());
    if (const int code = mdb_dbi_open(txn.get(), nullptr, 0, &database_); code != 0)
      return Broken(code);
    MDB_cursor* opened = nullptr;
    if (const int code = mdb_cursor_open(txn.get(), database_, &opened); code != 0)
      return Broken(code);
    const Cursor cursor(opened);
    MDB_val key{}, value{};
    int code;
    while ((code = mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) == 0)
      keys_.emplace_back(static_cast<const char*>(key.mv_data), key.mv_size);
    if (code != MDB_NOTFOUND) return Broken(code);
    if (keys_.empty()) return Failed("{}: the database is empty", file_.string());
    return Ok();
  }

  Result<Transaction> Begin() const {
    MDB_txn* txn = nullptr;
    if (const int code = mdb_txn_begin(environment_.get(), nullptr, MDB_RDONLY, &txn); code != 0)
      return Broken(code);
    return Transaction(txn);
  }

  Error Broken(int code) const {
    return Failed("{}: not a readable LMDB: {}", file_.string(), mdb_strerror(code));
  }

  fs::path file_;
  Environment environment_;
  MDB_dbi database_ = 0;
  std::vector<std::string> keys_;
};

}  // namespace

OpenedSource OpenLmdb(const fs::path& path, const SourceOptions&) { return LmdbSource::Open(path); }

}  // namespace tench
