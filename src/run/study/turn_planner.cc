// SPDX-License-Identifier: Apache-2.0
#include "run/study/turn_planner.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench {
namespace {

int64_t PeakBytes(const RunSummary& pilot) {
  return std::max({pilot.sampled_peak_rss_bytes.value_or(0), pilot.build_peak_rss_bytes.value_or(0),
                   pilot.steps_peak_rss_bytes.value_or(0)});
}

GroupTurns InRounds(std::string reason) { return {0, std::move(reason)}; }

}  // namespace

int64_t SlicesOfRun(int64_t steps, double longest_step_ns) {
  const double wanted =
      std::round(static_cast<double>(steps) * longest_step_ns / static_cast<double>(kSliceNs));
  const auto slices = static_cast<int64_t>(
      std::clamp(wanted, static_cast<double>(kFewestSlices), static_cast<double>(kMostSlices)));
  return std::max<int64_t>(1, std::min(slices, steps / kFewestSliceSteps));
}

GroupTurns PlanTurns(std::span<const TurnCandidate> group, int64_t steps, int64_t memory_bytes) {
  double longest_ns = 0;
  int64_t bytes = 0, running = 0;
  for (const TurnCandidate& candidate : group) {
    const Cell& cell = candidate.cell->cell;
    if (cell.Text(kAxisDevice) != "cpu") return InRounds("turns are for CPUs only");
    if (!candidate.pilot) continue;
    if (!candidate.pauses)
      return InRounds(fmt::format("{} cannot pause between two steps", cell.Text(kAxisWorker)));
    ++running;
    bytes += PeakBytes(*candidate.pilot);
    longest_ns = std::max(longest_ns, candidate.pilot->step_ns_min.value_or(0));
  }
  if (running < 2) return InRounds("fewer than two of its workers run");
  if (memory_bytes > 0 && bytes > memory_bytes)
    return InRounds(fmt::format("its workers need {} together, and {} are available",
                                HumanBytes(bytes), HumanBytes(memory_bytes)));
  return {SlicesOfRun(steps, longest_ns), ""};
}

}  // namespace tench
