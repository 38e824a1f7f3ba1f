// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parity error of a ranked row: the largest difference from `reference` over its tolerance,
// from the parity record of the row's worker, build, network and setting. At most 1 is verified.
// All lookups of parity records by the report are here. Thread safety: pure functions.

#include <span>
#include <string>

#include "axis/cell.h"
#include "store/record.h"

namespace tench {

// Whether a parity setting ("rules=4 device=cpu precision=f32 option.layout=nchw", "timed batch=16
// …") matches a cell that was measured by these rules: each part is an axis or an option with the
// cell's value, and no option of the cell is missing. Older settings do not name their rules.
bool SettingHolds(const std::string& setting, const Cell& cell, int64_t rules);

// The matching record, of the network or of the timed build, with the larger error; null if there
// is none. Points into `parities`.
const ParityRecord* FindParity(std::span<const ParityRecord> parities, const Cell& cell,
                               const std::string& worker_version, const std::string& build,
                               const std::string& fingerprint, int64_t rules);

}  // namespace tench
