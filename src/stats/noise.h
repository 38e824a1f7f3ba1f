// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noise of a study: how noisy the machine was, and which runs were disturbed. The evidence does not
// come from the runs' own steps, so that repeating or dropping disturbed runs does not select runs
// by their results. It is the sentinel's readings before and after the run, and the CPU time that
// the hypervisor (steal) or a cgroup's quota (throttling) withheld during the run.
//
// A run is disturbed when its worst sentinel reading exceeds 1.25 times the study's median of its
// kind, or when its share of withheld time exceeds the study's median share by 0.05. A permanent
// quota is a condition of all runs and disturbs none. Runs without sentinel readings are not judged
// (`--no-sentinel`).
//
// A run is slow when its shortest step exceeds 1.05 times the median of the shortest steps of its
// cell. This is stored for a reader and has no effect. Pure; not aware of the store.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "record/noise_readings.h"

namespace tench {

inline constexpr double kDisturbedAbove = 1.25;
inline constexpr double kWithheldAbove = 0.05;
inline constexpr double kSlowAbove = 1.05;
// A run in turns is disturbed if more of its slices were.
inline constexpr double kMostDisturbedSlices = 0.5;

// The usual shortest step of a cell: the median over its runs in one study; 0 for fewer than three
// runs.
double UsualShortest(std::span<const double> shortest_ns);

// The noise of one run, relative to the usual value 1. All judgements are made here.
struct RunNoise {
  double slowness = 1;  // the run's shortest step over the cell's usual one
  double slowdown = 1;  // the worst sentinel reading over the usual one
  double withheld = 0;  // the larger excess of stolen or throttled time over the usual share
  // Of a run in turns, the share of its slices that were disturbed: these alone lose their pairs.
  std::optional<double> disturbed_slices;
  bool slow() const { return slowness > kSlowAbove; }
  bool disturbed() const {
    if (disturbed_slices) return *disturbed_slices > kMostDisturbedSlices;
    return slowdown > kDisturbedAbove || withheld > kWithheldAbove;
  }
};

struct NoiseSummary {
  int64_t runs = 0;  // with sentinel readings
  int64_t disturbed = 0;
  double usual_slowdown = 1;  // median over runs of the worst reading over the usual one
  double high_slowdown = 1;   // 95 % of runs were below
  // Medians over runs of the withheld shares; nullopt = not read.
  std::optional<double> usual_steal, usual_throttled;
};

class NoiseProfile {
 public:
  void Add(const NoiseReadings& readings);
  // The number of runs with sentinel readings.
  int64_t runs() const { return static_cast<int64_t>(readings_.size()); }

  // The worst reading over the usual one, by the runs added so far; nullopt without readings.
  std::optional<double> Slowdown(const SentinelReadings& readings) const;
  // `usual_ns` is UsualShortest of the run's cell. 0 = unknown, for `shortest_ns` too.
  RunNoise Judge(const NoiseReadings& readings, double shortest_ns, double usual_ns) const;
  // The same of a run in turns, from the readings of its slices, unless there are none.
  RunNoise Judge(const NoiseReadings& readings, std::span<const NoiseReadings> slices,
                 double shortest_ns, double usual_ns) const;
  NoiseSummary Summary() const;

 private:
  void Settle() const;

  std::vector<NoiseReadings> readings_;
  // Medians per kind of reading, computed on demand after an Add.
  mutable bool settled_ = false;
  mutable double compute_ns_ = 0, memory_ns_ = 0;
  mutable std::optional<double> steal_, throttled_;
};

}  // namespace tench
