// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adds facts to a ranking's rows that the run records lack: the loss at an inner step of a run,
// latency quantiles, parity, and whether FLOP/s exceed the machine's peak.
// Thread safety: a ranking belongs to one thread.

#include "base/error.h"
#include "report/summary.h"
#include "store/store.h"

namespace tench {

// Labels FLOP/s above the measured peaks of the ranking's studies (direct_peak.h).
void LabelEffectiveFlops(Ranking& ranking);

// Adds losses at inner steps of runs, parity errors, and the latencies of single images.
Status AddStoredFacts(Store& store, Ranking& ranking);

}  // namespace tench
