// SPDX-License-Identifier: Apache-2.0
#pragma once
// The default study of commands that read a store. Studies are pooled only on request: two studies
// may differ in suite, builds and conditions of the machine.
// Thread safety: a store belongs to one thread.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {

// The newest study that has a run which all selectors match; nullopt if there is none, as in a file
// of single runs.
Result<std::optional<int64_t>> LatestStudy(Store& store,
                                           const std::vector<const RunSelector*>& selectors);

// The newest such study of every machine, oldest first.
Result<std::vector<int64_t>> LatestStudyOfEachMachine(Store& store, const RunSelector& selector);

}  // namespace tench
