// SPDX-License-Identifier: Apache-2.0
#pragma once
// A regression gate: what a CI job checks, as one list of cases. A case is a pair of a comparison
// or a cell of a ranking, and has at most one finding: `failed`, `slower` or `ambiguous`. The user
// selects the findings that fail the gate. Sinks (junit.h, github_annotations.h) render the list.
// Not aware of exit codes.
//
// Findings of a pair, about side B:
//  - failed: a run of B failed, in a cell that A completed;
//  - slower: the verdict on B;
//  - ambiguous: no verdict, and nothing failed.
// A cell of a ranking is `failed` if a run of it failed.
// Thread safety: pure functions.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/comparison.h"
#include "report/comparison_text.h"
#include "report/summary.h"

namespace tench {

// In the order of severity, which decides the exit code if a gate has several.
enum class GateFinding { kFailed, kSlower, kAmbiguous };

inline constexpr std::array<GateFinding, 3> kGateFindings = {
    GateFinding::kFailed, GateFinding::kSlower, GateFinding::kAmbiguous};

const std::string& Name(GateFinding finding);

using FailOn = std::set<GateFinding>;

// "slower,failed", or "none".
Result<FailOn> ParseFailOn(std::string_view text);

struct GateCase {
  std::string group;   // the worker, or the compared sides
  std::string title;   // the cell
  std::string detail;  // one line: ratio and interval, or the failure; may be empty
  std::optional<GateFinding> finding;

  bool Fails(const FailOn& fail_on) const { return finding && fail_on.contains(*finding); }
};

struct Gate {
  std::string name;
  std::vector<GateCase> cases;
  std::vector<std::string> notes;  // caveats that limit the validity
};

Gate GateOf(const Comparison& comparison, const ComparisonTitles& titles);
Gate GateOf(const Ranking& ranking, const std::string& name);

// The most severe finding that fails the gates; nullopt = passed.
std::optional<GateFinding> WorstFinding(std::span<const Gate> gates, const FailOn& fail_on);

// "gate: failed (1 slower, 2 ambiguous in 12 cases; fails on slower, failed)"
std::string GateLine(std::span<const Gate> gates, const FailOn& fail_on);

}  // namespace tench
