// SPDX-License-Identifier: Apache-2.0
#include "stats/noise.h"

#include <algorithm>

#include "stats/stats.h"

namespace tench {
namespace {

constexpr size_t kFewestRuns = 3;  // of two runs, either may be the outlier

std::optional<double> MedianShare(std::span<const NoiseReadings> readings,
                                  std::optional<double> NoiseReadings::*share) {
  std::vector<double> shares;
  for (const NoiseReadings& each : readings) {
    if (each.*share) shares.push_back(*(each.*share));
  }
  return shares.empty() ? std::nullopt : std::optional(Median(std::move(shares)));
}

double Excess(std::optional<double> share, std::optional<double> usual) {
  return share && usual ? std::max(0.0, *share - *usual) : 0;
}

}  // namespace

double UsualShortest(std::span<const double> shortest_ns) {
  if (shortest_ns.size() < kFewestRuns) return 0;
  return Median({shortest_ns.begin(), shortest_ns.end()});
}

void NoiseProfile::Add(const NoiseReadings& readings) {
  if (readings.sentinel == SentinelReadings{}) return;
  readings_.push_back(readings);
  settled_ = false;
}

void NoiseProfile::Settle() const {
  if (settled_) return;
  std::vector<double> compute, memory;
  for (const NoiseReadings& each : readings_) {
    for (const SentinelReading& reading : {each.sentinel.before, each.sentinel.after}) {
      if (reading.compute_ns > 0) compute.push_back(static_cast<double>(reading.compute_ns));
      if (reading.memory_ns > 0) memory.push_back(static_cast<double>(reading.memory_ns));
    }
  }
  compute_ns_ = Median(std::move(compute));
  memory_ns_ = Median(std::move(memory));
  steal_ = MedianShare(readings_, &NoiseReadings::steal_share);
  throttled_ = MedianShare(readings_, &NoiseReadings::throttled_share);
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

RunNoise NoiseProfile::Judge(const NoiseReadings& readings, double shortest_ns,
                             double usual_ns) const {
  RunNoise noise;
  noise.slowdown = Slowdown(readings.sentinel).value_or(1);
  if (readings.sentinel != SentinelReadings{}) {
    noise.withheld = std::max(Excess(readings.steal_share, steal_),
                              Excess(readings.throttled_share, throttled_));
  }
  if (usual_ns > 0 && shortest_ns > 0) noise.slowness = shortest_ns / usual_ns;
  return noise;
}

RunNoise NoiseProfile::Judge(const NoiseReadings& readings, std::span<const NoiseReadings> slices,
                             double shortest_ns, double usual_ns) const {
  RunNoise noise = Judge(readings, shortest_ns, usual_ns);
  if (slices.empty()) return noise;
  const auto disturbed =
      std::count_if(slices.begin(), slices.end(),
                    [&](const NoiseReadings& each) { return Judge(each, 0, 0).disturbed(); });
  noise.disturbed_slices = static_cast<double>(disturbed) / static_cast<double>(slices.size());
  return noise;
}

NoiseSummary NoiseProfile::Summary() const {
  NoiseSummary summary;
  std::vector<double> slowdowns;
  Settle();
  for (const NoiseReadings& readings : readings_) {
    slowdowns.push_back(Slowdown(readings.sentinel).value_or(1));
    summary.disturbed += Judge(readings, 0, 0).disturbed();
  }
  summary.usual_steal = steal_;
  summary.usual_throttled = throttled_;
  summary.runs = runs();
  if (slowdowns.empty()) return summary;
  std::sort(slowdowns.begin(), slowdowns.end());
  summary.usual_slowdown = Quantile(slowdowns, 0.5);
  summary.high_slowdown = Quantile(slowdowns, 0.95);
  return summary;
}

}  // namespace tench
