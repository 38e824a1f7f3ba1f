// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compared time of a run: the shortest stretch of its timed steps. Workers whose steps take
// about equally long are compared by their shortest steps. A step of 5 ms often fits into a short
// interval in which the machine is fast, and a step of 1 s averages over many such intervals, so
// the minimum would favour the worker with the shorter steps. Therefore minima are compared over
// stretches of about equal duration:
//
//  - A stretch of level j is 2^j consecutive steps; its value is their mean. The longest step of a
//    comparison is level 0, and a worker with steps 2^j times shorter is level j.
//  - The minimum of more stretches is lower, too. Of equally many steps, the worker with the
//  highest
//    level J has the fewest stretches: steps / 2^J. For each worker the expected minimum of that
//    many of its stretches is compared: the mean over all subsets of that size.
//
// If all steps are about equally long, j = J = 0, and the value is the shortest step. Pure; not
// aware of runs.
//
// Thread safety: a value type without shared state.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

// Stretches have at most 2^8 = 256 steps.
inline constexpr int kMostStretchLevel = 8;

// The level of steps of `own_ns` where the longest steps of the comparison take `longest_ns`:
// log2 of the quotient, rounded, within 0 … kMostStretchLevel. 0 if a time is not positive.
int StretchLevel(double longest_ns, double own_ns);

// The mean over all subsets of `count` of the values of their minimum. `sorted` is ascending and
// has at least `count` values; `count` is at least 1.
double ExpectedMinimum(std::span<const double> sorted, int64_t count);

class StretchProfile {
 public:
  // Of the timed steps of a run, in their order; at least one.
  static StretchProfile Of(std::span<const int64_t> step_ns);

  // Time per step of the expected shortest stretch of `level` in a comparison whose highest level
  // is `highest`. A run with fewer than 2^level steps has one stretch: all that its steps fill.
  double StepNs(int level, int highest) const;

  std::string Encode() const;  // text, a few hundred bytes
  static Result<StretchProfile> Decode(std::string_view text);

 private:
  // Row `highest` begins at highest (highest + 1) / 2 and has levels 0 … highest.
  std::vector<double> step_ns_;
  int levels_ = 0;  // the highest level that the steps fill, plus one
};

}  // namespace tench
