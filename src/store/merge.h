// SPDX-License-Identifier: Apache-2.0
#pragma once
// Brings the studies, runs and parity findings of one store into another: of several machines into
// one file, or of an archive into the present. A study is the same in both if its machine, suite,
// start and seed are; a run if its study, round, cell and attempt are, and a single run if its
// machine, cell, start and duration are. What is there already is not added again.

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
