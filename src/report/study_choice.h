// SPDX-License-Identifier: Apache-2.0
#pragma once
// The study of a command that reads a store: the one that the user names, or the default. Studies
// are pooled only on request: two studies may differ in suite, builds and conditions of the
// machine.
//
// Thread safety: a store belongs to one thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {

// The study that a text names: a number, "latest", or "all", which is nullopt. An unknown number is
// an error that lists the studies; `file` is the store's, for messages.
Result<std::optional<int64_t>> NamedStudy(Store& store, const std::string& text,
                                          const std::string& file);

// The newest study that has a run which all selectors match; nullopt if there is none, as in a file
// of single runs.
Result<std::optional<int64_t>> LatestStudy(Store& store,
                                           const std::vector<const RunSelector*>& selectors);

// The newest such study of every machine, oldest first.
Result<std::vector<int64_t>> LatestStudyOfEachMachine(Store& store, const RunSelector& selector);

}  // namespace tench
