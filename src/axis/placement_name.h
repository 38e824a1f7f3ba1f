// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of thread placements: "first", "spread", "compact", "node:N". Not aware of which CPUs or
// NUMA nodes exist; machine/placement.h selects the CPUs. Pure.

#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

inline constexpr std::string_view kPlacementForms = "first, spread, compact or node:N";

struct PlacementName {
  enum class Kind { kFirst, kSpread, kCompact, kNode };
  Kind kind = Kind::kFirst;
  int node = 0;  // kNode only

  bool operator==(const PlacementName&) const = default;
};

Result<PlacementName> ParsePlacement(std::string_view text);
std::string ToString(const PlacementName& placement);  // ParsePlacement(ToString(p)) == p

}  // namespace tench
