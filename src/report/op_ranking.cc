// SPDX-License-Identifier: Apache-2.0
#include "report/op_ranking.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "report/row_text.h"
#include "report/text_table.h"
#include "stats/stats.h"

namespace tench {
namespace {

bool IsOf(const CensusRow& row, const std::string& layer, std::string_view direction) {
  return row.layer == layer && row.direction.starts_with(direction);
}

std::optional<OpTime> TimeOf(const OpRuns& runs, const std::string& layer,
                             std::string_view direction) {
  std::vector<double> times;
  std::map<std::string, int64_t> by_implementation;
  for (const Census& census : runs.censuses) {
    if (census.steps == 0) continue;
    int64_t time_ns = 0;
    for (const CensusRow& row : census.rows) {
      if (!IsOf(row, layer, direction)) continue;
      time_ns += row.time_ns;
      by_implementation[row.implementation] += row.time_ns;
    }
    times.push_back(static_cast<double>(time_ns) / static_cast<double>(census.steps));
  }
  if (times.empty() || by_implementation.empty()) return std::nullopt;
  OpTime time;
  time.time_ns = Summarize(times).median;
  time.implementation =
      std::max_element(by_implementation.begin(), by_implementation.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
  return time;
}

}  // namespace

std::vector<OpRanking> RankOps(const std::vector<OpRuns>& runs, const std::string& layer,
                               int64_t forward_flops, int64_t backward_flops) {
  std::vector<std::string> caches;
  for (const OpRuns& one : runs) {
    if (std::find(caches.begin(), caches.end(), one.cache) == caches.end())
      caches.push_back(one.cache);
  }
  std::vector<OpRanking> rankings;
  for (const std::string& cache : caches) {
    for (const char* direction : {"forward", "backward"}) {
      OpRanking ranking{direction, cache, {}};
      const int64_t flops = ranking.direction == "forward" ? forward_flops : backward_flops;
      for (size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].cache != cache) continue;
        auto time = TimeOf(runs[i], layer, direction);
        if (!time) continue;
        time->runs = i;
        if (time->time_ns > 0)
          time->flops_per_s = static_cast<double>(flops) / (time->time_ns * 1e-9);
        ranking.times.push_back(*std::move(time));
      }
      std::stable_sort(ranking.times.begin(), ranking.times.end(),
                       [](const OpTime& a, const OpTime& b) { return a.time_ns < b.time_ns; });
      if (!ranking.times.empty()) rankings.push_back(std::move(ranking));
    }
  }
  return rankings;
}

std::string RenderOps(const std::string& title, const std::vector<OpRuns>& runs,
                      const std::vector<OpRanking>& rankings, int width) {
  std::string out = title + "\n";
  for (const OpRanking& ranking : rankings) {
    out += fmt::format("\n{}, {} caches\n", ranking.direction, ranking.cache);
    TextTable table({{"#", Align::kRight},
                     {"worker"},
                     {"algorithm"},
                     {"time", Align::kRight},
                     {"× best", Align::kRight},
                     {"GFLOP/s", Align::kRight},
                     {"implementation"}});
    const double best_ns = ranking.times.front().time_ns;
    for (size_t i = 0; i < ranking.times.size(); ++i) {
      const OpTime& time = ranking.times[i];
      const OpRuns& of = runs[time.runs];
      table.AddRow({fmt::format("{}", i + 1), PlainLine(of.worker + " " + of.version),
                    PlainLine(of.algorithm), HumanNs(time.time_ns),
                    best_ns > 0 ? fmt::format("{:.2f}", time.time_ns / best_ns) : "",
                    time.flops_per_s > 0 ? fmt::format("{:.1f}", time.flops_per_s / 1e9) : "",
                    PlainLine(time.implementation)});
    }
    out += table.Render(width, 2);
  }
  bool failed = false;
  for (const OpRuns& one : runs) {
    if (one.reason.empty()) continue;
    if (!std::exchange(failed, true)) out += "\nNot measured:\n";
    out += PlainLine(fmt::format("  {}, {}, {} caches: {}", one.worker, one.algorithm, one.cache,
                                 one.reason)) +
           "\n";
  }
  return out;
}

Json OpsToJson(const std::string& title, const std::vector<OpRuns>& runs,
               const std::vector<OpRanking>& rankings) {
  Json json = {{"title", title}, {"rankings", Json::array()}, {"failed", Json::array()}};
  for (const OpRanking& ranking : rankings) {
    Json rows = Json::array();
    for (const OpTime& time : ranking.times) {
      const OpRuns& of = runs[time.runs];
      rows.push_back({{"worker", of.worker},
                      {"worker_version", of.version},
                      {"algorithm", of.algorithm},
                      {"implementation", time.implementation},
                      {"time_ns", time.time_ns},
                      {"flops_per_s", time.flops_per_s > 0 ? Json(time.flops_per_s) : Json()},
                      {"rounds", of.censuses.size()},
                      {"reproducer", of.command}});
    }
    json["rankings"].push_back(
        {{"direction", ranking.direction}, {"cache", ranking.cache}, {"rows", rows}});
  }
  for (const OpRuns& one : runs) {
    if (one.reason.empty()) continue;
    json["failed"].push_back({{"worker", one.worker},
                              {"algorithm", one.algorithm},
                              {"cache", one.cache},
                              {"reason", one.reason}});
  }
  return json;
}

}  // namespace tench
