// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/text_table.h"

namespace tench {
namespace {

constexpr double kSmallShare = 0.001;

std::vector<std::string> Cells(const ProfileRow& row, double total_ns) {
  const auto calls = static_cast<double>(std::max<int64_t>(1, row.calls));
  const auto time_ns = static_cast<double>(row.time_ns);
  const auto rate = [&](int64_t amount) {
    return amount > 0 && time_ns > 0 ? fmt::format("{:.1f}", static_cast<double>(amount) / time_ns)
                                     : std::string();
  };
  // It executes less than the arithmetic that is counted.
  const bool is_winograd = row.kernel.find("winograd") != std::string::npos;
  const auto bytes = static_cast<int64_t>(static_cast<double>(row.bytes) / calls);
  return {fmt::format("{:.1f} %", 100 * time_ns / total_ns),
          HumanNs(time_ns / calls),
          rate(row.flops) + (is_winograd && row.flops > 0 ? " effective" : ""),
          HumanBytes(bytes),
          rate(row.bytes),
          row.layer,
          row.direction,
          row.kernel};
}

}  // namespace

std::string ProfileText(std::span<const ProfileRow> rows) {
  std::vector<ProfileRow> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.time_ns > b.time_ns; });
  double total_ns = 0;
  for (const ProfileRow& row : sorted) total_ns += static_cast<double>(row.time_ns);
  if (total_ns == 0) return "The profile is empty.\n";
  TextTable table({{"share", Align::kRight},
                   {"time", Align::kRight},
                   {"GFLOP/s", Align::kRight},
                   {"memory", Align::kRight},
                   {"GB/s", Align::kRight},
                   {"layer"},
                   {"direction"},
                   {"kernel"}});
  ProfileRow rest;
  int64_t small = 0;
  for (const ProfileRow& row : sorted) {
    if (static_cast<double>(row.time_ns) >= kSmallShare * total_ns) {
      table.AddRow(Cells(row, total_ns));
      continue;
    }
    ++small;
    rest.calls = std::max(rest.calls, row.calls);
    rest.time_ns += row.time_ns;
    rest.flops += row.flops;
    rest.bytes += row.bytes;
  }
  if (small > 0) {
    rest.layer = fmt::format("({} more)", small);
    table.AddRow(Cells(rest, total_ns));
  }
  return fmt::format(
      "Kernels of one step, mean over {} timed steps:\n"
      "{}",
      sorted.front().calls, table.Render());
}

}  // namespace tench
