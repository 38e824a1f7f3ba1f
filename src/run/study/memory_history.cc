// SPDX-License-Identifier: Apache-2.0
#include "run/study/memory_history.h"

#include <algorithm>

#include "record/run_flag.h"

namespace tench {
namespace {

std::string IdButBatch(Cell cell) {
  cell.values[kAxisBatch] = Axes()[kAxisBatch].fallback;
  return cell.Id();
}

}  // namespace

void MemoryHistory::Note(const RunRecord& run) {
  if (run.outcome != Outcome::kOutOfMemory) return;
  // A skipped run is no evidence.
  if (HasFlag(run.flags, kFlagSkipped)) return;
  const int64_t batch = run.cell.Integer(kAxisBatch);
  const auto [found, added] = smallest_.emplace(IdButBatch(run.cell), batch);
  if (!added) found->second = std::min(found->second, batch);
}

std::optional<int64_t> MemoryHistory::SmallerFailure(const Cell& cell) const {
  if (smallest_.empty()) return std::nullopt;
  const auto found = smallest_.find(IdButBatch(cell));
  if (found == smallest_.end() || found->second >= cell.Integer(kAxisBatch)) return std::nullopt;
  return found->second;
}

}  // namespace tench
