// SPDX-License-Identifier: Apache-2.0
#pragma once
// Long texts that many runs share (a worker's description, its environment), each stored once and
// referred to by its id. The empty text has no document and the id nullopt. Keeps a small cache;
// not aware of the texts' meaning.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "store/database.h"

namespace tench {

class Documents {
 public:
  static Result<Documents> Open(const Database& database);

  // The id of `content`, which is stored if it is new. Runs within the caller's transaction.
  Result<std::optional<int64_t>> Add(const std::string& content);
  // Valid until the next call.
  Result<const std::string*> Get(int64_t id);

 private:
  Documents(const Database* database, Statement find, Statement get)
      : database_(database), find_(std::move(find)), get_(std::move(get)) {}

  const Database* database_;
  Statement find_, get_;
  std::map<int64_t, std::string> cache_;
};

}  // namespace tench
