// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ranking of an unfinished study as HTML: one short table per comparison. Ranks may still
// change; the number of rounds of each row shows how much it rests on.
// Thread safety: pure functions.

#include <string>

#include "report/summary.h"

namespace tench {

std::string LiveRanking(const Ranking& ranking);

}  // namespace tench
