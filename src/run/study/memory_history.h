// SPDX-License-Identifier: Apache-2.0
#pragma once
// The batch sizes of a study that ran out of memory, so that larger batches of the same cell are
// skipped. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "axis/cell.h"
#include "store/record.h"

namespace tench {

class MemoryHistory {
 public:
  void Note(const RunRecord& run);
  // The smallest batch of this cell that ran out of memory, if it is smaller than the cell's batch.
  std::optional<int64_t> SmallerFailure(const Cell& cell) const;

 private:
  std::map<std::string, int64_t> smallest_;  // by the cell's id at the default batch
};

}  // namespace tench
