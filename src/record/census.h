// SPDX-License-Identifier: Apache-2.0
#pragma once
// The census of a profiled run: one schema for the kernels of every worker. Passive structs;
// profile/census_builder.h makes them from a worker's profile, and the store keeps them.

#include <cstdint>
#include <string>
#include <vector>

#include "record/ceiling.h"
#include "record/kernel_group.h"

namespace tench {

// All calls of one implementation for one layer and direction, over all profiled steps.
struct CensusRow {
  std::string layer;      // "" = of no layer
  std::string direction;  // "forward", "backward", "backward_data", "backward_weights", "update"
  KernelGroup group = KernelGroup::kOther;
  std::string primitive;       // the op: "conv"; "" = of no layer
  std::string implementation;  // the worker's name of the kernel
  // The convolution in benchdnn's form, or m, n, k of a product; "" for other ops.
  std::string problem;
  std::string layouts;  // of the tensors; "" = not reported
  // `flops` is the arithmetic of the op's definition; 0 = unknown.
  int64_t calls = 0, time_ns = 0, flops = 0;
  int64_t bytes = 0;  // read and written; 0 = unknown
  // The worker reported no bytes: `bytes` is each input, output and parameter once.
  bool bytes_from_shapes = false;

  bool operator==(const CensusRow&) const = default;
};

struct Census {
  std::string source;  // "profile of torch"
  int64_t steps = 0;   // profiled; 0 = no profile
  std::vector<CensusRow> rows;
  std::vector<Ceiling> ceilings = {};  // of the machine, measured with the run; may be empty

  bool operator==(const Census&) const = default;
};

}  // namespace tench
