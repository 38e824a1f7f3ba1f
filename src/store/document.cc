// SPDX-License-Identifier: Apache-2.0
#include "store/document.h"

#include "base/text.h"

namespace tench {
namespace {

constexpr size_t kMaxCached = 256;

}  // namespace

Result<Documents> Documents::Open(const Database& database) {
  Statement find =
      TENCH_TRY(database.Prepare("SELECT id FROM document WHERE hash = ?1 AND content = ?2"));
  Statement get = TENCH_TRY(database.Prepare("SELECT content FROM document WHERE id = ?1"));
  return Documents(&database, std::move(find), std::move(get));
}

Result<std::optional<int64_t>> Documents::Add(const std::string& content) {
  if (content.empty()) return std::optional<int64_t>();
  const std::string hash = Hex64(Hash64(content));
  find_.Reset();
  find_.Bind(1, hash);
  find_.Bind(2, content);
  if (TENCH_TRY(find_.Step())) {
    const int64_t id = find_.Integer(0);
    find_.Reset();
    return std::optional<int64_t>(id);
  }
  find_.Reset();
  Statement insert =
      TENCH_TRY(database_->Prepare("INSERT INTO document (hash, content) VALUES (?1, ?2)"));
  insert.Bind(1, hash);
  insert.Bind(2, content);
  TENCH_TRY(insert.Run());
  return std::optional<int64_t>(database_->last_id());
}

Result<const std::string*> Documents::Get(int64_t id) {
  const auto found = cache_.find(id);
  if (found != cache_.end()) return &found->second;
  if (cache_.size() >= kMaxCached) cache_.clear();
  get_.Reset();
  get_.Bind(1, id);
  if (!TENCH_TRY(get_.Step()))
    return Failed("{}: document {} is missing: the file is damaged", database_->path(), id);
  std::string& content = cache_[id];
  content = get_.Text(0);
  get_.Reset();
  return &content;
}

}  // namespace tench
