// SPDX-License-Identifier: Apache-2.0
#include "report/gate.h"

#include "base/text.h"
#include "report/row_text.h"

namespace tench {
namespace {

constexpr std::string_view kNoFinding = "none";

const std::vector<std::string>& FindingNames() {
  static const std::vector<std::string> names = {"failed", "slower", "ambiguous"};
  return names;
}

std::optional<GateFinding> FindingOf(const CellPair& pair) {
  if (pair.b.runs_failed > 0 && !pair.a.times.empty()) return GateFinding::kFailed;
  if (pair.verdict == RatioVerdict::kSlower) return GateFinding::kSlower;
  if (pair.verdict == RatioVerdict::kAmbiguous) return GateFinding::kAmbiguous;
  return std::nullopt;
}

std::string DetailOf(const CellPair& pair) {
  std::vector<std::string> parts;
  if (pair.b.runs_failed > 0) {
    parts.push_back(fmt::format("{} of {} runs of B failed: {}", pair.b.runs_failed,
                                pair.b.runs_failed + pair.b.runs_ok, pair.b.failure));
  }
  if (pair.test.rounds > 1) {
    parts.push_back(fmt::format(
        "B takes {:.4f} times as long as A (95 %: {:.4f} to {:.4f}, {} rounds)", pair.test.ratio,
        pair.test.interval.low, pair.test.interval.high, pair.test.rounds));
  }
  if (!pair.reason.empty() && pair.b.runs_failed == 0) parts.push_back(pair.reason);
  return PlainLine(Join(parts, "; "));
}

}  // namespace

const std::string& Name(GateFinding finding) {
  return FindingNames()[static_cast<size_t>(finding)];
}

Result<FailOn> ParseFailOn(std::string_view text) {
  FailOn fail_on;
  const std::vector<std::string> words = Split(text, ',');
  for (const std::string& word : words) {
    const std::string_view name = Trim(word);
    if (name == kNoFinding && words.size() == 1) return fail_on;
    if (name == kNoFinding) return Failed("'none' excludes other findings");
    const size_t position = TENCH_TRY(PositionOf("finding", name, FindingNames()));
    fail_on.insert(kGateFindings[position]);
  }
  return fail_on;
}

Gate GateOf(const Comparison& comparison, const ComparisonTitles& titles) {
  Gate gate;
  gate.name = PlainLine(fmt::format("{} against {}", titles.b, titles.a));
  for (const CellPair& pair : comparison.pairs) {
    gate.cases.push_back({pair.b.cell.Text(kAxisWorker), PairTitle(comparison, pair),
                          DetailOf(pair), FindingOf(pair)});
  }
  gate.notes = CaveatsOf(comparison);
  return gate;
}

Gate GateOf(const Ranking& ranking, const std::string& name) {
  Gate gate;
  gate.name = PlainLine(name);
  for (const RankGroup& group : ranking.groups) {
    for (const RankRow& row : group.rows) {
      GateCase one{row.worker, CellTitle(ranking, group, row), {}, std::nullopt};
      if (row.HasFailed()) {
        one.finding = GateFinding::kFailed;
        one.detail = PlainLine(FailureTitle(row) + (row.reason.empty() ? "" : ": " + row.reason));
      }
      gate.cases.push_back(std::move(one));
    }
  }
  return gate;
}

std::optional<GateFinding> WorstFinding(std::span<const Gate> gates, const FailOn& fail_on) {
  for (const GateFinding finding : kGateFindings) {
    if (!fail_on.contains(finding)) continue;
    for (const Gate& gate : gates) {
      for (const GateCase& one : gate.cases) {
        if (one.finding == finding) return finding;
      }
    }
  }
  return std::nullopt;
}

std::string GateLine(std::span<const Gate> gates, const FailOn& fail_on) {
  std::vector<std::string> counts, kinds;
  size_t cases = 0;
  for (const Gate& gate : gates) cases += gate.cases.size();
  for (const GateFinding finding : kGateFindings) {
    int64_t count = 0;
    for (const Gate& gate : gates) {
      for (const GateCase& one : gate.cases) count += one.finding == finding ? 1 : 0;
    }
    if (count > 0) counts.push_back(fmt::format("{} {}", count, Name(finding)));
    if (fail_on.contains(finding)) kinds.push_back(Name(finding));
  }
  return fmt::format("gate: {} ({} in {} case{}; fails on {})",
                     WorstFinding(gates, fail_on) ? "failed" : "passed",
                     counts.empty() ? "no finding" : Join(counts, ", "), cases,
                     cases == 1 ? "" : "s", kinds.empty() ? "nothing" : Join(kinds, ", "));
}

}  // namespace tench
