// SPDX-License-Identifier: Apache-2.0
#pragma once
// Merges the studies, runs and parity results of one store into another. Two studies are the same
// if machine, suite, start and seed are equal. Two runs are the same if study, round, cell and
// attempt are equal; two single runs, if machine, cell, start and duration are. Records that exist
// already are not added again.

#include <cstdint>

#include "store/store.h"

namespace tench {

struct MergeCounts {
  int64_t studies = 0, runs = 0, parities = 0;  // added
  int64_t known_runs = 0;                       // there already
  int64_t conflicts = 0;  // there already, but with another result: kept as they were

  MergeCounts& operator+=(const MergeCounts& other);
};

// Within the caller's transaction on `into`.
Result<MergeCounts> MergeStore(Store& into, Store& from);

}  // namespace tench
