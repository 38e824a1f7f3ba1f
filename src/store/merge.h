// SPDX-License-Identifier: Apache-2.0
#pragma once
// Merges the studies, runs and parity results of one store into another. Two studies are the same
// if machine, suite, start and seed are equal. Two runs are the same if study, round, cell and
// attempt are equal; two single runs, if machine, cell, start and duration are. Records that exist
// already are not added again. A parity result keeps its build, CPU model and instruction set, so
// that a machine with another CPU does not find it.

#include <cstdint>
#include <optional>

#include "store/store.h"

namespace tench {

struct MergeCounts {
  int64_t studies = 0, runs = 0, parities = 0;  // added
  int64_t known_runs = 0;                       // skipped: already present
  int64_t conflicts = 0;                        // present with another result: `into` is unchanged

  MergeCounts& operator+=(const MergeCounts& other);
};

// All studies and single runs, or one study alone. Runs within the caller's transaction on `into`.
Result<MergeCounts> MergeStore(Store& into, Store& from, std::optional<int64_t> study = {});

}  // namespace tench
