// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ranking of one op over workers and algorithms (tench bench-op): per direction and cache
// state, by the median over rounds of the time of the op's kernels per step. Not aware of how runs
// are made.
// Thread safety: pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/census.h"

namespace tench {

// One worker with one algorithm and cache state. A failed one has a reason.
struct OpRuns {
  std::string worker, version, algorithm, cache;
  std::string command;           // reproduces a round
  std::vector<Census> censuses;  // one per round
  std::string reason;            // of the failure; "" if ok
};

struct OpTime {
  size_t runs = 0;             // index into the input
  std::string implementation;  // of the most time
  double time_ns = 0;          // median over rounds
  double flops_per_s = 0;      // by the op's definition; 0 = unknown
};

// The times of one direction and cache state, the fastest first.
struct OpRanking {
  std::string direction;  // "forward" or "backward": both gradients, which some workers fuse
  std::string cache;
  std::vector<OpTime> times;
};

// The rows of `layer` in each census. `flops` are those of one step by direction.
std::vector<OpRanking> RankOps(const std::vector<OpRuns>& runs, const std::string& layer,
                               int64_t forward_flops, int64_t backward_flops);

std::string RenderOps(const std::string& title, const std::vector<OpRuns>& runs,
                      const std::vector<OpRanking>& rankings, int width);
Json OpsToJson(const std::string& title, const std::vector<OpRuns>& runs,
               const std::vector<OpRanking>& rankings);

}  // namespace tench
