// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides which FLOP/s are `effective`. FLOP/s count the arithmetic of the network's definition. A
// Winograd convolution executes less, so its rate is not a utilization of the machine. A rate is
// effective if the worker selected Winograd convolutions, or if it exceeds the peak of direct f32
// arithmetic that the study measured with the same number of threads (machine/peak.h).
// Thread safety: const after construction.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "store/record.h"

namespace tench {

// Whether a value in RunRecord::choices_json names Winograd.
bool ChoosesWinograd(const std::string& choices_json);

// The measured peaks of the studies' machines.
class DirectPeaks {
 public:
  explicit DirectPeaks(std::span<const StudyRecord> studies);
  // The largest measured peak; nullopt if no study measured with that number of threads.
  std::optional<double> FlopsPerSecond(const std::string& machine_id, int64_t threads) const;

 private:
  std::map<std::pair<std::string, int64_t>, double> peaks_;
};

}  // namespace tench
