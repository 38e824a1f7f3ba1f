// SPDX-License-Identifier: Apache-2.0
// Counts of the study: workers, networks, cells, runs.
#include <algorithm>
#include <set>

#include "record/run_flag.h"
#include "report/html/markup.h"
#include "report/html/section.h"

namespace tench {
namespace {

std::string Tile(std::string_view value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", HtmlText(value),
                     HtmlText(what));
}

std::string NounFor(size_t count, std::string_view noun) {
  return fmt::format("{}{}", noun, count == 1 ? "" : "s");
}

}  // namespace

std::string CountsSection(const ReportData& data) {
  std::set<std::string> workers, networks, machines;
  int64_t verified = 0;
  for (const ReportCell& cell : data.cells) {
    workers.insert(cell.series);
    networks.insert(cell.cell.Text(kAxisNetwork));
    machines.insert(cell.machine_id);
    verified += cell.measured() && cell.HasFlag(kFlagVerified);
  }
  const auto measured = std::count_if(data.cells.begin(), data.cells.end(),
                                      [](const auto& c) { return c.measured(); });
  std::string out = "<div class=\"tiles\">\n";
  out += Tile(std::to_string(workers.size()), NounFor(workers.size(), "worker"));
  out += Tile(std::to_string(networks.size()), NounFor(networks.size(), "network"));
  out += Tile(fmt::format("{}", data.cells.size()), fmt::format("cells, {} measured", measured));
  out += Tile(fmt::format("{}", data.ranking.runs),
              NounFor(static_cast<size_t>(data.ranking.runs), "run"));
  out += Tile(fmt::format("{} / {}", verified, measured),
              "measured cells verified against the reference");
  if (const auto spread = SpreadOfStudy(data))
    out += Tile(fmt::format("±{:.1f} %", spread->median * 100), "typical spread between rounds");
  if (machines.size() > 1) out += Tile(std::to_string(machines.size()), "machines");
  return out + "</div>\n";
}

}  // namespace tench
