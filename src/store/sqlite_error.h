// SPDX-License-Identifier: Apache-2.0
#pragma once
// SQLite's error codes as one line for the user, with the file, the cause and the remedy. A full
// disk, a lock, a damaged file and a missing permission are distinguished, because their remedies
// differ.

#include <sqlite3.h>

#include <string_view>

#include "base/error.h"

namespace tench {

inline constexpr int kBusyTimeoutMs = 10'000;

// The error of the last call on `db`. `path` is needed only if `db` is not open.
Error SqliteError(sqlite3* db, int code, std::string_view path = {});

// The same messages for checks without an SQLite call.
Error NotADatabase(std::string_view path);
Error Damaged(std::string_view path, std::string_view detail);

}  // namespace tench
