// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tench why`: the aligned profiles of two workers as text for a terminal, as Markdown and as JSON.
// Thread safety: pure functions.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "profile/alignment.h"
#include "profile/cause.h"
#include "stats/stats.h"

namespace tench {

inline constexpr double kLeastCoverage = 0.85;  // of a step by its kernels

// One side besides its profile.
struct WhySide {
  std::string version, command;         // the command repeats the profiled run
  std::optional<double> plain_step_ns;  // mean of its unprofiled runs
  std::optional<double> cpu_per_wall;   // of the profiled runs
  int64_t profiled_runs = 0, plain_runs = 0;
};

struct Why {
  std::string title;  // "alexnet, batch 16, train, 2 threads"
  Alignment alignment;
  WhySide a, b;
  int64_t threads = 0;
  // Of the unprofiled difference of b over a; nullopt with fewer than two rounds.
  std::optional<Interval> plain_difference_ns;
  std::vector<Ceiling> ceilings;  // of the machine; empty if not measured
  std::vector<Cause> causes;
  // Replays the op of a cause in both workers; "" for a cause of no single op.
  std::vector<std::string> commands;
};

// A column of the layer table is left out or cut if the text would exceed `width`; 0 = as wide as
// needed.
std::string RenderWhy(const Why& why, size_t width);
std::string RenderWhyMarkdown(const Why& why);
Json WhyToJson(const Why& why);

}  // namespace tench
