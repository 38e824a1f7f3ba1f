// SPDX-License-Identifier: Apache-2.0
#include "report/row_comparison.h"

#include <cmath>
#include <utility>
#include <vector>

#include "stats/stats.h"

namespace tench {
namespace {

// Times of rows that have the same rounds as the best one are not changed by rounding.
constexpr double kEqualTimes = 1e-9;

// The mean over the row's own rounds, times `scale`.
void SetTime(double scale, RankRow& row) {
  row.step_ns = ComparedStep(row);
  row.step_ns->value *= scale;
  if (row.step_ns->low) *row.step_ns->low *= scale;
  if (row.step_ns->high) *row.step_ns->high *= scale;
  if (row.step_flops > 0 && row.step_ns->value > 0)
    row.flops_per_s = static_cast<double>(row.step_flops) * 1e9 / row.step_ns->value;
}

}  // namespace

Estimate ComparedImage(std::span<const RoundTime> times) {
  std::vector<double> kept;
  for (const RoundTime& time : times) {
    if (!time.dropped() && time.compared_ns > 0) kept.push_back(time.compared_ns);
  }
  Estimate estimate{MeanComparedNs(times), {}, {}};
  if (kept.size() < 2) return estimate;
  const Interval interval = GeometricMeanOf(kept).interval;
  estimate.low = interval.low;
  estimate.high = interval.high;
  return estimate;
}

Estimate ComparedStep(const RankRow& row) {
  const double images = row.times.front().images;
  Estimate step = ComparedImage(row.times);
  step.value *= images;
  if (step.low) *step.low *= images;
  if (step.high) *step.high *= images;
  return step;
}

void SetRowTimes(RankGroup& group, std::span<const GroupStep> others) {
  std::vector<ComparedTimes> cells;
  for (RankRow& row : group.rows) {
    if (row.measured()) cells.push_back({row.times, row.role == Role::kOracle});
  }
  SetComparedTimes(cells, others);
  for (RankRow& row : group.rows) {
    if (row.measured()) SetTime(1, row);
  }
}

void CompareRows(const RankRow& best, RankGroup& group) {
  std::vector<Pairing> pairings;
  std::vector<RankRow*> others;  // null: a pair without `best`
  for (size_t i = 0; i < group.rows.size(); ++i) {
    for (size_t j = i + 1; j < group.rows.size(); ++j) {
      RankRow *a = &group.rows[i], *b = &group.rows[j];
      if (!a->measured() || !b->measured() || (a->rank == 0 && b->rank == 0)) continue;
      if (b == &best) std::swap(a, b);
      pairings.push_back(PairRounds(a->times, b->times));
      others.push_back(a == &best ? b : nullptr);
    }
  }
  // The fastest row was picked from all these pairs, so all are the family of the correction.
  std::vector<const RatioTest*> tests;
  for (const Pairing& pairing : pairings) tests.push_back(&pairing.test);
  const std::vector<RatioJudgement> judgements = JudgeTable(tests);
  for (size_t i = 0; i < pairings.size(); ++i) {
    if (others[i] == nullptr) continue;
    RankRow& row = *others[i];
    const bool contradicted = Contradicts(pairings[i].medians, judgements[i].verdict);
    row.verdict = contradicted ? RatioVerdict::kAmbiguous : judgements[i].verdict;
    row.interleaved = pairings[i].interleaved;
    row.against_best = std::move(pairings[i].test);
    // By slices the ratio is not the quotient of the times.
    if (pairings[i].turns && row.against_best->rounds > 0) row.ratio = row.against_best->ratio;
  }
}

void SetPairedTimes(const RankRow& best, RankGroup& group) {
  const double best_ns = ComparedImage(best.times).value;
  for (RankRow& row : group.rows) {
    if (!row.measured()) continue;
    double scale = 1;
    if (&row != &best && row.against_best && row.against_best->rounds >= kFewestRounds)
      scale = best_ns * row.against_best->ratio / ComparedImage(row.times).value;
    SetTime(std::abs(scale - 1) > kEqualTimes ? scale : 1, row);
  }
}

}  // namespace tench
