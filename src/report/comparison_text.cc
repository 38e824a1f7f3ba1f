// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_text.h"

#include <algorithm>
#include <cmath>

#include "base/plural.h"
#include "base/text.h"
#include "record/worker_version.h"
#include "report/record_json.h"
#include "report/row_text.h"
#include "report/text_table.h"

namespace tench {
namespace {

constexpr size_t kMaxListed = 20;

// Three decimal places, or more for small ratios.
std::string Ratio(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 0.1 ? 4 : ratio < 10 ? 3 : 1);
}

std::string IntervalText(const RatioTest& test) {
  return test.rounds < kFewestRounds
             ? ""
             : fmt::format("{} … {}", Ratio(test.interval.low), Ratio(test.interval.high));
}

// Timed steps per run of both sides.
std::string PairSteps(const CellPair& pair) {
  std::vector<RoundTime> times = pair.a.times;
  times.insert(times.end(), pair.b.times.begin(), pair.b.times.end());
  return StepsText(times);
}

const char* TimeTitle(StepTime time) {
  return time == StepTime::kShortest ? "by each run's shortest stretch of steps"
                                     : "by each run's median step";
}

// The side's values of the compared axes.
std::string OwnTitle(const ComparedCell& cell, const std::set<std::string>& axes) {
  std::vector<std::string> parts;
  for (const std::string& axis : axes) {
    if (axis == kMachineAxis) {
      parts.push_back(cell.machine);
    } else if (axis == kVersionAxis) {
      if (!axes.contains(Axes()[kAxisWorker].name))
        parts.push_back(ShownVersion(cell.worker_version, cell.build));
    } else if (axis == Axes()[kAxisWorker].name) {
      parts.push_back(WorkerTitle(cell.cell, cell.worker_version, cell.build));
    } else if (const std::optional<std::string> key = SettingKey(axis)) {
      const auto setting = cell.cell.options.find(*key);
      parts.push_back(
          fmt::format("{}={}", *key, setting == cell.cell.options.end() ? "" : setting->second));
    } else if (const Result<size_t> index = FindAxis(axis); index.ok()) {
      parts.push_back(fmt::format("{}={}", axis, Axes()[*index].Print(cell.cell.values[*index])));
    }
  }
  return PlainLine(Join(parts, ", "));
}

bool SidesDiffer(const Comparison& comparison) {
  return std::any_of(comparison.pairs.begin(), comparison.pairs.end(), [&](const CellPair& pair) {
    return OwnTitle(pair.a, comparison.axes) != OwnTitle(pair.b, comparison.axes);
  });
}

bool Fits(const std::string& text, size_t width) {
  const std::vector<std::string> lines = Split(text, '\n');
  return width == 0 || std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
           return TextWidth(line) <= width;
         });
}

// One row per pair. A stacked table has the pair's cell on a line of its own above its row, and
// omits what exceeds the width.
std::string TableText(const Comparison& comparison, size_t width, bool stacked) {
  const bool names = SidesDiffer(comparison);
  std::vector<TextColumn> columns;
  if (!stacked) columns.push_back({"cell"});
  if (names) columns.insert(columns.end(), {{"A", Align::kLeft, 4}, {"B", Align::kLeft, 4}});
  columns.insert(columns.end(), {{"A/image", Align::kRight},
                                 {"B/image", Align::kRight},
                                 {"B ÷ A", Align::kRight},
                                 {"95 %", Align::kRight, 1},
                                 {"steps", Align::kRight, 3},
                                 {"rounds", Align::kRight, 2},
                                 {"A median", Align::kRight, 5},
                                 {"B median", Align::kRight, 5},
                                 {"verdict", Align::kLeft},
                                 {"reason", Align::kLeft, 5}});
  TextTable table(columns);
  const auto time = [](const ComparedCell& cell) {
    return cell.times.empty() ? "" : HumanNs(cell.compared_ns);
  };
  const auto median = [](const ComparedCell& cell) {
    return cell.times.empty() ? "" : HumanNs(cell.median_ns);
  };
  for (const CellPair& pair : comparison.pairs) {
    std::vector<std::string> cells;
    if (!stacked) cells.push_back(PairTitle(comparison, pair));
    if (names)
      cells.insert(cells.end(),
                   {OwnTitle(pair.a, comparison.axes), OwnTitle(pair.b, comparison.axes)});
    cells.insert(cells.end(),
                 {time(pair.a), time(pair.b), pair.test.rounds > 0 ? Ratio(pair.test.ratio) : "",
                  IntervalText(pair.test), PairSteps(pair), fmt::format("{}", pair.test.rounds),
                  median(pair.a), median(pair.b), Name(pair.verdict), PlainLine(pair.reason)});
    table.AddRow(std::move(cells));
  }
  if (!stacked) {
    const std::string text = table.Render(0, 2);
    return Fits(text, width) ? text : TableText(comparison, width, true);
  }
  const std::vector<std::string> omitted = table.Fit(width, 4);
  const std::vector<std::string> lines = Split(table.Render(width, 4), '\n');
  std::string out = lines[0] + '\n' + lines[1] + '\n';
  for (size_t i = 0; i < comparison.pairs.size(); ++i) {
    out += WrapText("  " + PairTitle(comparison, comparison.pairs[i]), width, 4) + '\n';
    out += lines[i + 2] + '\n';
  }
  return out + (omitted.empty() ? "" : '\n' + WrapText(OmittedLine(omitted), width, 2));
}

void AppendOutliers(std::string& out, const Comparison& comparison, size_t width) {
  size_t listed = 0;
  for (const CellPair& pair : comparison.pairs) {
    for (const RoundPair& round : pair.rounds) {
      if (!round.outlier) continue;
      if (listed == 0) out += "\noutlier rounds (they still count):\n";
      if (++listed <= kMaxListed) {
        const std::string line =
            fmt::format("  round {}: B ÷ A {}, the pair's {}: {}", round.a.round + 1,
                        Ratio(round.ratio), Ratio(pair.test.ratio), PairTitle(comparison, pair));
        out += WrapText(line, width, 4) + '\n';
      }
    }
  }
  if (listed > kMaxListed)
    out += fmt::format("  and {} more (--json has all)\n", listed - kMaxListed);
}

std::string CountsText(const Comparison& comparison) {
  std::vector<std::string> counts;
  for (const RatioVerdict verdict : {RatioVerdict::kFaster, RatioVerdict::kSlower,
                                     RatioVerdict::kSame, RatioVerdict::kAmbiguous}) {
    if (const int64_t count = comparison.Count(verdict); count > 0)
      counts.push_back(fmt::format("{} {}", count, Name(verdict)));
  }
  return fmt::format("{}: B is {}", Plural(static_cast<int64_t>(comparison.pairs.size()), "pair"),
                     Join(counts, ", "));
}

Json SideToJson(const ComparedCell& cell) {
  Json json = Json::object();
  json["cell_id"] = cell.cell_id;
  PutAxes(json, cell.cell);
  json["options"] = cell.cell.options;
  json["worker_version"] = ShownVersion(cell.worker_version, cell.build);
  json["build"] = cell.build;
  json["rules"] = cell.rules == kNoRules ? Json(nullptr) : Json(cell.rules);
  json["machine"] = cell.machine;
  json["machine_id"] = cell.machine_id;
  json["runs_ok"] = cell.runs_ok;
  json["runs_failed"] = cell.runs_failed;
  json["failure"] = cell.failure;
  json["image_ns"] = cell.times.empty() ? Json(nullptr) : RealToJson(cell.compared_ns);
  json["median_image_ns"] = cell.times.empty() ? Json(nullptr) : RealToJson(cell.median_ns);
  return json;
}

Json PairToJson(const CellPair& pair) {
  const RatioTest& test = pair.test;
  const bool has_interval = test.rounds >= kFewestRounds;
  Json json = {{"a", SideToJson(pair.a)}, {"b", SideToJson(pair.b)}};
  json["ratio"] = test.rounds > 0 ? RealToJson(test.ratio) : Json(nullptr);
  json["ratio_low"] = has_interval ? RealToJson(test.interval.low) : Json(nullptr);
  json["ratio_high"] = has_interval ? RealToJson(test.interval.high) : Json(nullptr);
  json["dropped_rounds"] = pair.dropped;
  json["p"] = RealToJson(test.p);
  json["corrected_p"] = RealToJson(pair.corrected_p);
  json["verdict"] = Name(pair.verdict);
  json["reason"] = pair.reason;
  json["interleaved"] = pair.interleaved;
  json["pairing"] = Name(pair.turns ? StudyPairing::kTurns : StudyPairing::kRounds);
  Json rounds = Json::array();
  for (const RoundPair& round : pair.rounds) {
    rounds.push_back({{"study_a", round.a.study},
                      {"study_b", round.b.study},
                      {"round", round.a.round},
                      {"a_image_ns", RealToJson(round.a.compared_ns)},
                      {"b_image_ns", RealToJson(round.b.compared_ns)},
                      {"a_median_image_ns", RealToJson(round.a.image_ns)},
                      {"b_median_image_ns", RealToJson(round.b.image_ns)},
                      {"a_shortest_image_ns", RealToJson(round.a.shortest_ns)},
                      {"b_shortest_image_ns", RealToJson(round.b.shortest_ns)},
                      {"ratio", RealToJson(round.ratio)},
                      {"slice_ratios", round.slice_ratios},
                      {"disturbed", round.a.disturbed || round.b.disturbed},
                      {"outlier", round.outlier}});
  }
  json["rounds"] = std::move(rounds);
  return json;
}

}  // namespace

std::string PairTitle(const Comparison& comparison, const CellPair& pair) {
  std::vector<size_t> left_out;
  for (size_t i = 0; i < Axes().size(); ++i) {
    if (comparison.axes.contains(Axes()[i].name)) left_out.push_back(i);
  }
  const std::string title = SharedTitle(pair.a.cell, left_out);
  if (comparison.axes.contains(Axes()[kAxisWorker].name)) return PlainLine(title);
  Cell shared = pair.a.cell;
  std::erase_if(shared.options, [&](const auto& option) {
    return comparison.axes.contains(SettingName(option.first));
  });
  const bool same = pair.a.worker_version == pair.b.worker_version && pair.a.build == pair.b.build;
  return WorkerTitle(shared, same ? pair.a.worker_version : "", same ? pair.a.build : "") + ": " +
         PlainLine(title);
}

std::vector<std::string> CaveatsOf(const Comparison& comparison) {
  std::vector<std::string> caveats;
  if (!comparison.interleaved()) {
    caveats.push_back(
        "A and B were not interleaved: rounds are paired by number, so drift of the machine is "
        "part of the ratio");
    if (comparison.sentinel_ratio) {
      const double percent = (*comparison.sentinel_ratio - 1) * 100;
      caveats.push_back(fmt::format("by the noise sentinel, the machine was {:.1f} % {} during B",
                                    std::abs(percent), percent >= 0 ? "slower" : "faster"));
    }
  }
  const auto other_rules =
      std::find_if(comparison.pairs.begin(), comparison.pairs.end(),
                   [](const CellPair& pair) { return pair.a.rules != pair.b.rules; });
  if (other_rules != comparison.pairs.end()) {
    caveats.push_back(fmt::format(
        "A was measured by rules {} and B by rules {}, which docs/methodology.md tells apart",
        other_rules->a.rules, other_rules->b.rules));
  }
  int64_t dropped = 0, disturbed = 0, rounds = 0, unequal = 0;
  for (const CellPair& pair : comparison.pairs) {
    rounds += pair.test.rounds;
    dropped += pair.dropped;
    const auto count = [&](const auto& holds) {
      return std::count_if(pair.rounds.begin(), pair.rounds.end(), holds);
    };
    disturbed +=
        count([](const RoundPair& round) { return round.a.disturbed || round.b.disturbed; });
    unequal +=
        count([](const RoundPair& round) { return round.a.timed_steps != round.b.timed_steps; });
  }
  if (dropped > 0)
    caveats.push_back(
        fmt::format("{} of {} rounds are left out, because the machine was disturbed during a run",
                    dropped, rounds + dropped));
  if (disturbed > 0)
    caveats.push_back(fmt::format(
        "the machine was disturbed in {} of {} paired rounds, and no undisturbed run replaced them",
        disturbed, rounds));
  if (unequal > 0)
    caveats.push_back(
        fmt::format("A and B made different numbers of timed steps in {} of {} paired rounds",
                    unequal, rounds));
  const auto alone = [&](const char* side, const std::vector<ComparedCell>& cells) {
    if (!cells.empty())
      caveats.push_back(fmt::format("{} of {} without a partner",
                                    Plural(static_cast<int64_t>(cells.size()), "cell"), side));
  };
  alone("A", comparison.only_a);
  alone("B", comparison.only_b);
  return caveats;
}

std::string RenderComparison(const Comparison& comparison, const ComparisonTitles& titles,
                             size_t width) {
  std::string out = fmt::format("A: {}\nB: {}\n", PlainLine(titles.a), PlainLine(titles.b));
  out += WrapText(
      fmt::format(
          "ratio of times per image (B over A), {}: geometric mean over rounds, 95 % interval; "
          "above 1, B is slower; within {:g} %, same",
          TimeTitle(comparison.time), comparison.margin * 100),
      width, 0);
  out += "\n\n" + TableText(comparison, width, false);
  AppendOutliers(out, comparison, width);
  out += '\n' + CountsText(comparison) + '\n';
  for (const std::string& caveat : CaveatsOf(comparison))
    out += WrapText("note: " + caveat, width, 2) + '\n';
  return out;
}

Json ComparisonToJson(const Comparison& comparison, const ComparisonTitles& titles) {
  Json pairs = Json::array(), only_a = Json::array(), only_b = Json::array(),
       counts = Json::object();
  for (const CellPair& pair : comparison.pairs) pairs.push_back(PairToJson(pair));
  for (const ComparedCell& cell : comparison.only_a) only_a.push_back(SideToJson(cell));
  for (const ComparedCell& cell : comparison.only_b) only_b.push_back(SideToJson(cell));
  for (const RatioVerdict verdict : {RatioVerdict::kFaster, RatioVerdict::kSlower,
                                     RatioVerdict::kSame, RatioVerdict::kAmbiguous})
    counts[Name(verdict)] = comparison.Count(verdict);
  return {{"a", titles.a},
          {"b", titles.b},
          {"compared", comparison.axes},
          {"margin", comparison.margin},
          {"of", comparison.time == StepTime::kShortest ? "shortest" : "median"},
          {"interleaved", comparison.interleaved()},
          {"counts", std::move(counts)},
          {"caveats", CaveatsOf(comparison)},
          {"pairs", std::move(pairs)},
          {"only_a", std::move(only_a)},
          {"only_b", std::move(only_b)}};
}

}  // namespace tench
