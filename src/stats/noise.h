// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noise of a study, from the sentinel's readings and the runs' own step times: how noisy the
// machine was, and which runs were disturbed. A reading is compared with the study's median of its
// kind.
//
// A run is disturbed when its worst reading exceeds 1.25 times that median. It is also disturbed
// when it is slow itself: its shortest step exceeds 1.05 times the median of the shortest steps of
// its cell. Pure; not aware of the store.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "record/sentinel_reading.h"

namespace tench {

inline constexpr double kDisturbedAbove = 1.25;
inline constexpr double kSlowAbove = 1.05;

// The usual shortest step of a cell: the median over its runs in one study; 0 for fewer than three
// runs.
double UsualShortest(std::span<const double> shortest_ns);

// The noise of one run, relative to the usual value 1. All judgements are made here.
struct RunNoise {
  double slowness = 1;  // the run's shortest step over the cell's usual one
  double slowdown = 1;  // the worst sentinel reading over the usual one
  bool slow() const { return slowness > kSlowAbove; }
  bool disturbed() const { return slow() || slowdown > kDisturbedAbove; }
};

struct NoiseSummary {
  int64_t runs = 0;  // with readings
  int64_t disturbed = 0;
  double usual_slowdown = 1;  // median over runs of the worst reading over the usual one
  double high_slowdown = 1;   // 95 % of runs were below
};

class NoiseProfile {
 public:
  void Add(const SentinelReadings& readings);
  // The number of runs with readings.
  int64_t runs() const { return static_cast<int64_t>(readings_.size()); }

  // The worst reading over the usual one, by the runs added so far; nullopt without readings.
  std::optional<double> Slowdown(const SentinelReadings& readings) const;
  // `usual_ns` is UsualShortest of the run's cell. 0 = unknown, for `shortest_ns` too.
  RunNoise Judge(const SentinelReadings& readings, double shortest_ns, double usual_ns) const;
  NoiseSummary Summary() const;

 private:
  void Settle() const;

  std::vector<SentinelReadings> readings_;
  // Medians per kind of reading, computed on demand after an Add.
  mutable bool settled_ = false;
  mutable double compute_ns_ = 0, memory_ns_ = 0;
};

}  // namespace tench
