// SPDX-License-Identifier: Apache-2.0
#pragma once
// The roofline of a profile (Williams, Waterman and Patterson 2009): every kernel's arithmetic
// intensity and its achieved FLOP/s, under the measured ceilings of the machine.
//
// FLOPs are those of the op's definition. A Winograd or FFT convolution executes fewer, so its
// point may lie above the arithmetic ceiling. Bytes that the worker does not report are the least
// traffic (problem.h), so the true intensity may be lower.
// Thread safety: pure functions.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/census.h"

namespace tench {

struct RooflinePoint {
  std::string layer, direction, implementation;
  KernelGroup group = KernelGroup::kOther;
  double intensity = 0;    // FLOPs per byte
  double flops_per_s = 0;  // achieved
  double step_ns = 0;      // of the kernel, per step
  bool bytes_from_shapes = false, effective = false;
};

// A point for every row with known FLOPs and bytes, the most expensive first.
std::vector<RooflinePoint> RooflineOf(const Census& census);

// The highest arithmetic ceiling; nullopt without one.
std::optional<double> ArithmeticCeiling(std::span<const Ceiling> ceilings);
// FLOP/s that the ceiling allows at an intensity: its own, or bandwidth times intensity, at most
// the arithmetic ceiling.
double AllowedBy(const Ceiling& ceiling, double intensity, double arithmetic_flops_per_s);

}  // namespace tench
