// SPDX-License-Identifier: Apache-2.0
#include "profile/alignment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"

namespace tench {
namespace {

constexpr const char* kBackward = "backward";

using RowKey = std::tuple<std::string, std::string, KernelGroup>;

// Layers for which a side has one kernel for both gradients.
std::set<std::string> Undivided(const ProfiledSide& a, const ProfiledSide& b) {
  std::set<std::string> layers;
  for (const ProfiledSide* side : {&a, &b}) {
    for (const CensusRow& row : side->census.rows) {
      if (row.direction == kBackward) layers.insert(row.layer);
    }
  }
  return layers;
}

// A worker may update all parameters in one kernel, so the update is one row.
RowKey KeyOf(const CensusRow& row, const std::set<std::string>& undivided) {
  if (row.group == KernelGroup::kUpdate) return {"", "update", row.group};
  const bool gradient = row.direction == "backward_data" || row.direction == "backward_weights";
  return {row.layer, gradient && undivided.contains(row.layer) ? kBackward : row.direction,
          row.group};
}

void AddShare(const CensusRow& row, double steps, KernelShare& share) {
  const double time_ns = static_cast<double>(row.time_ns) / steps;
  share.time_ns += time_ns;
  share.calls += static_cast<double>(row.calls) / steps;
  share.flops += static_cast<double>(row.flops) / steps;
  share.bytes += static_cast<double>(row.bytes) / steps;
  if (share.implementation.empty() || time_ns > share.slowest_ns) {
    share.implementation = row.implementation;
    share.slowest_ns = time_ns;
  }
}

}  // namespace

Alignment AlignProfiles(const ProfiledSide& a, const ProfiledSide& b) {
  Check(a.census.steps > 0 && b.census.steps > 0, "an alignment of a side without a profile");
  Alignment alignment{a.name, b.name, a.step_ns, b.step_ns, 0, 0, {}, {}};
  const std::set<std::string> undivided = Undivided(a, b);
  std::map<RowKey, AlignedRow> rows;
  std::map<KernelGroup, GroupTime> groups;
  for (const bool is_a : {true, false}) {
    const Census& census = (is_a ? a : b).census;
    const auto steps = static_cast<double>(census.steps);
    for (const CensusRow& row : census.rows) {
      const RowKey key = KeyOf(row, undivided);
      AlignedRow& aligned = rows[key];
      std::tie(aligned.layer, aligned.direction, aligned.group) = key;
      AddShare(row, steps, is_a ? aligned.a : aligned.b);
      const double time_ns = static_cast<double>(row.time_ns) / steps;
      GroupTime& group = groups[row.group];
      group.group = row.group;
      (is_a ? group.a_ns : group.b_ns) += time_ns;
      (is_a ? alignment.a_kernels_ns : alignment.b_kernels_ns) += time_ns;
    }
  }
  for (auto& [key, row] : rows) alignment.rows.push_back(std::move(row));
  std::stable_sort(alignment.rows.begin(), alignment.rows.end(),
                   [](const AlignedRow& x, const AlignedRow& y) {
                     return std::abs(x.difference_ns()) > std::abs(y.difference_ns());
                   });
  for (const auto& [key, group] : groups) alignment.groups.push_back(group);
  return alignment;
}

}  // namespace tench
