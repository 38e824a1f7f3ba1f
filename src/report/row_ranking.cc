// SPDX-License-Identifier: Apache-2.0
#include "report/row_ranking.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "report/row_comparison.h"

namespace tench {
namespace {

// A measured row under construction.
struct Contender {
  double image_ns = 0;
  RankRow* row = nullptr;
};

// Sets the losses of measured rows at their smallest common step, for the runs that end with it.
void SetLosses(RankGroup& group) {
  std::optional<int64_t> common;
  for (const RankRow& row : group.rows) {
    if (!row.measured()) continue;
    for (const RoundTime& time : row.times)
      common = std::min(common.value_or(time.steps), time.steps);
  }
  group.loss_step = common.value_or(0);
  if (group.loss_step == 0) return;
  for (RankRow& row : group.rows) {
    if (!row.measured()) continue;
    const RoundTime& newest =
        *std::max_element(row.times.begin(), row.times.end(),
                          [](const RoundTime& a, const RoundTime& b) { return a.run < b.run; });
    row.loss_run = newest.run;
    if (newest.steps == group.loss_step) row.loss = newest.last_loss;
  }
}

// Values of an axis are ranked whatever the role of their worker.
bool RanksAllRoles(const Ranking& ranking, std::span<const Contender> measured) {
  const bool between_workers = !ranking.by || *ranking.by == kAxisWorker;
  return ranking.all_roles || !between_workers ||
         std::none_of(measured.begin(), measured.end(), [](const Contender& contender) {
           return contender.row->role == Role::kFramework;
         });
}

void SortByTime(std::vector<Contender>& contenders) {
  std::stable_sort(contenders.begin(), contenders.end(),
                   [](const Contender& a, const Contender& b) { return a.image_ns < b.image_ns; });
}

// Compares all measured rows with the fastest ranked one and sorts them by their times. A row that
// is faster than the fastest in their common rounds takes its place, each row once.
RankRow* CompareWithFastest(const Ranking& ranking, RankGroup& group,
                            std::span<const GroupStep> others, std::vector<Contender>& measured) {
  const auto is_ranked = [](const Contender& one) { return one.row->rank > 0; };
  SetRowTimes(group, others);
  RankRow* best = nullptr;
  for (std::set<const RankRow*> compared;;) {
    if (best != nullptr) {
      for (RankRow& row : group.rows) row.against_best.reset();
      CompareRows(*best, group);
      SetPairedTimes(*best, group);
    }
    for (Contender& one : measured) one.image_ns = PerImage(ranking, group, *one.row).value;
    SortByTime(measured);
    const auto first = std::find_if(measured.begin(), measured.end(), is_ranked);
    if (first == measured.end() || !compared.insert(first->row).second) return best;
    best = first->row;
  }
}

}  // namespace

void RankRows(const Ranking& ranking, RankGroup& group, std::span<const GroupStep> others) {
  std::vector<Contender> measured;
  for (RankRow& row : group.rows) {
    if (row.measured()) measured.push_back({0, &row});
  }
  const bool all_roles = RanksAllRoles(ranking, measured);
  for (const Contender& one : measured)
    one.row->rank = all_roles || one.row->role == Role::kFramework ? 1 : 0;
  if (const RankRow* best = CompareWithFastest(ranking, group, others, measured)) {
    const double best_ns = PerImage(ranking, group, *best).value;
    int64_t rank = 1;
    for (const Contender& one : measured) {
      one.row->ratio = best_ns > 0 ? one.image_ns / best_ns : 1;
      if (one.row->rank > 0) one.row->rank = one.row == best ? 1 : ++rank;
    }
  }
  SetLosses(group);
  const bool by_value = ranking.by.has_value();
  const auto place = [](const RankRow& row) { return row.rank > 0 ? 0 : row.measured() ? 1 : 2; };
  std::stable_sort(group.rows.begin(), group.rows.end(), [&](const RankRow& a, const RankRow& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    if (by_value && a.by != b.by) return a.by < b.by;
    return std::tie(a.rank, a.ratio, a.worker, a.worker_version, a.build, a.cell_id) <
           std::tie(b.rank, b.ratio, b.worker, b.worker_version, b.build, b.cell_id);
  });
}

}  // namespace tench
