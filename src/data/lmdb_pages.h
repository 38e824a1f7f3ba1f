// SPDX-License-Identifier: Apache-2.0
#pragma once
// A check of the pages of an LMDB file, made before liblmdb maps it: liblmdb trusts every page
// number and offset, so a damaged one ends the process. Not aware of the values.

#include "base/error.h"
#include "data/byte_file.h"

namespace tench {

// Follows the tree of the main database from the newest meta page. Fails, with the offset, if a
// page or a node lies outside of its bounds, or if the database is not a plain one (with duplicate
// keys or named databases inside).
Status CheckLmdbPages(const ByteFile& file);

}  // namespace tench
