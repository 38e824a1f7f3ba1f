// SPDX-License-Identifier: Apache-2.0
#include "stats/noise.h"

#include <algorithm>

#include "stats/stats.h"

namespace tench {
namespace {

constexpr size_t kFewestRuns = 3;  // of two runs, either may be the outlier

}  // namespace

double UsualShortest(std::span<const double> shortest_ns) {
  if (shortest_ns.size() < kFewestRuns) return 0;
  return Median({shortest_ns.begin(), shortest_ns.end()});
}

void NoiseProfile::Add(const SentinelReadings& readings) {
  if (readings == SentinelReadings{}) return;
  readings_.push_back(readings);
  settled_ = false;
}

void NoiseProfile::Settle() const {
  if (settled_) return;
  std::vector<double> compute, memory;
  for (const SentinelReadings& each : readings_) {
    for (const SentinelReading& reading : {each.before, each.after}) {
      if (reading.compute_ns > 0) compute.push_back(static_cast<double>(reading.compute_ns));
      if (reading.memory_ns > 0) memory.push_back(static_cast<double>(reading.memory_ns));
    }
  }
  compute_ns_ = Median(std::move(compute));
  memory_ns_ = Median(std::move(memory));
  settled_ = true;
}

std::optional<double> NoiseProfile::Slowdown(const SentinelReadings& readings) const {
  Settle();
  std::optional<double> worst;
  for (const SentinelReading& reading : {readings.before, readings.after}) {
    if (reading.compute_ns > 0 && compute_ns_ > 0)
      worst = std::max(worst.value_or(0), static_cast<double>(reading.compute_ns) / compute_ns_);
    if (reading.memory_ns > 0 && memory_ns_ > 0)
      worst = std::max(worst.value_or(0), static_cast<double>(reading.memory_ns) / memory_ns_);
  }
  return worst;
}

RunNoise NoiseProfile::Judge(const SentinelReadings& readings, double shortest_ns,
                             double usual_ns) const {
  RunNoise noise;
  noise.slowdown = Slowdown(readings).value_or(1);
  if (usual_ns > 0 && shortest_ns > 0) noise.slowness = shortest_ns / usual_ns;
  return noise;
}

NoiseSummary NoiseProfile::Summary() const {
  NoiseSummary summary;
  std::vector<double> slowdowns;
  for (const SentinelReadings& readings : readings_) {
    const double slowdown = Slowdown(readings).value_or(1);
    slowdowns.push_back(slowdown);
    summary.disturbed += slowdown > kDisturbedAbove;
  }
  summary.runs = runs();
  if (slowdowns.empty()) return summary;
  std::sort(slowdowns.begin(), slowdowns.end());
  summary.usual_slowdown = Quantile(slowdowns, 0.5);
  summary.high_slowdown = Quantile(slowdowns, 0.95);
  return summary;
}

}  // namespace tench
