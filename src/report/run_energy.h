// SPDX-License-Identifier: Apache-2.0
#pragma once
// Energy per image of a run, from the counters over its timed steps. Values are never estimated.
// Thread safety: pure functions.

#include <optional>
#include <string>

#include "store/record.h"

namespace tench {

// nullopt if the run has no measurement.
std::optional<double> ImageEnergyJ(const RunRecord& run);
// The idle power over the window, as a share of the window's energy; nullopt if it is unknown.
std::optional<double> IdleEnergyShare(const RunRecord& run);

std::string EnergyText(double joules);  // "1.23 J", "45.6 mJ"

}  // namespace tench
