// SPDX-License-Identifier: Apache-2.0
#pragma once
// The alignment of two profiles of one network: an additive decomposition of the difference in time
// per step, by layer, direction and kernel group.
//
// Invariants: the rows' times and the remainder of a side sum to its step time. A remainder is the
// step without its kernels (framework gap, idle threads); it is negative if kernels of a side
// overlap in time.
// Thread safety: pure functions.

#include <string>
#include <vector>

#include "record/census.h"

namespace tench {

// One side: its profile, and the mean of the timed steps of the same runs.
struct ProfiledSide {
  std::string name;
  Census census;
  double step_ns = 0;
};

// A side's share of a row, per step.
struct KernelShare {
  double time_ns = 0, calls = 0, flops = 0, bytes = 0;
  std::string implementation;  // of the most time; "" = no kernel
  double slowest_ns = 0;       // of that implementation
};

struct AlignedRow {
  std::string layer;      // "" = of no layer, and for the update
  std::string direction;  // "backward" if a side does not separate both gradients
  KernelGroup group = KernelGroup::kOther;
  KernelShare a, b;
  double difference_ns() const { return b.time_ns - a.time_ns; }
};

struct GroupTime {
  KernelGroup group = KernelGroup::kOther;
  double a_ns = 0, b_ns = 0;
  double difference_ns() const { return b_ns - a_ns; }
};

struct Alignment {
  std::string a_name, b_name;
  double a_step_ns = 0, b_step_ns = 0;
  double a_kernels_ns = 0, b_kernels_ns = 0;
  std::vector<AlignedRow> rows;   // the largest difference first
  std::vector<GroupTime> groups;  // those that a side has, in the order of the enum
  double a_remainder_ns() const { return a_step_ns - a_kernels_ns; }
  double b_remainder_ns() const { return b_step_ns - b_kernels_ns; }
  double difference_ns() const { return b_step_ns - a_step_ns; }
};

// Both censuses have steps.
Alignment AlignProfiles(const ProfiledSide& a, const ProfiledSide& b);

}  // namespace tench
