// SPDX-License-Identifier: Apache-2.0
#pragma once
// The slices of a run that was measured in turns: the workers of a compared group stay resident,
// and each makes a slice of steps while the others are stopped. Slice i of one run is paired with
// slice i of another run of the same set, which was measured at most a few slices earlier or later.
//
// Two runs in one set have the same number of steps in slices of the same number. The slices of one
// process are not independent of each other: the process keeps its memory layout. So a set gives
// one ratio, the median over its pairs of slices, and sets are the units of the interval
// (stats/paired.h). Pure; not aware of runs or workers.
//
// Thread safety: value types without shared state.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/noise_readings.h"
#include "stats/stretch.h"

namespace tench {

struct TimedSlice {
  int64_t warmup_steps = 0, steps = 0;
  NoiseReadings noise;   // the sentinel before and after the pass, withheld time of the slice
  double median_ns = 0;  // of its timed steps
  StretchProfile stretches;
};

struct SliceSet {
  int64_t id = 0;            // the runs measured in turns with each other have the same; never 0
  int64_t warmup_steps = 0;  // before the first slice
  std::vector<TimedSlice> slices;

  std::string Encode() const;  // JSON; "" without slices
  static Result<SliceSet> Decode(std::string_view text);

  std::vector<NoiseReadings> noise() const;  // of each slice
};

// The place of a step in its series, and its slice.
struct StepPlace {
  bool timed = false;
  size_t index = 0;   // in the series of timed or of warm-up steps
  int64_t slice = 0;  // from 1; 0 = before the first slice
};
// All steps of a run in the order in which they were made. A run that is not in turns has its
// warm-up steps first, as a run in turns has those before its first slice.
std::vector<StepPlace> StepOrder(size_t warmup_steps, size_t timed_steps, const SliceSet& set);

// Slices whose log ratio is further from the median of all are moved to this many standard
// deviations (estimated by the median absolute deviation), so that a slice that the machine
// disturbed weighs as little as any other far one.
inline constexpr double kClipDeviations = 3;

// One ratio per set, from the ratios of its pairs of slices: the median of the clipped logarithms.
// Every set has at least one ratio; ratios are positive and finite.
std::vector<double> SetRatios(std::span<const std::vector<double>> sets);

}  // namespace tench
