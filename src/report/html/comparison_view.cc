// SPDX-License-Identifier: Apache-2.0
#include "report/html/comparison_view.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tench {
namespace {

constexpr int64_t kFewestBatches = 3;  // for a best one

}  // namespace

const ReportCell& ComparisonView::CellOf(const RankRow& row) const {
  return cells[static_cast<size_t>(&row - group->rows.data())];
}

const std::string& ComparisonView::SeriesOf(const RankRow& row) const { return CellOf(row).series; }

const std::string& ComparisonView::Title(const ReportData& data) const {
  return data.group_titles[kGroupWorkers][static_cast<size_t>(cells[0].group[kGroupWorkers])];
}

size_t ComparisonView::MeasuredFrameworks() const {
  return static_cast<size_t>(std::count_if(cells.begin(), cells.end(), [](const ReportCell& cell) {
    return cell.measured() && cell.row.role == Role::kFramework;
  }));
}

std::vector<ComparisonView> ComparisonsOf(const ReportData& data) {
  std::vector<ComparisonView> views;
  const std::span<const ReportCell> cells = data.cells;
  size_t first = 0;
  for (const RankGroup& group : data.ranking.groups) {
    if (group.rows.empty()) continue;
    Check(first + group.rows.size() <= cells.size(), "every row of the ranking has its cell");
    views.push_back({&group, cells.subspan(first, group.rows.size()), AnswerOf(group)});
    first += group.rows.size();
  }
  return views;
}

std::vector<NetworkView> NetworksOf(const ReportData& data) {
  std::map<int64_t, NetworkView> networks;  // by kGroupBatches, in the ranking's order
  for (ComparisonView& view : ComparisonsOf(data))
    networks[view.cells[0].group[kGroupBatches]].by_batch.push_back(std::move(view));
  std::vector<NetworkView> ordered;
  for (auto& entry : networks) {
    NetworkView& network = entry.second;
    const auto batch = [](const ComparisonView& view) {
      return view.group->cell.Integer(kAxisBatch);
    };
    std::stable_sort(
        network.by_batch.begin(), network.by_batch.end(),
        [&](const ComparisonView& a, const ComparisonView& b) { return batch(a) < batch(b); });
    for (size_t i = 1; i < network.by_batch.size(); ++i) {
      const auto weight = [&](size_t index) {
        const ComparisonView& view = network.by_batch[index];
        return std::tuple(view.MeasuredFrameworks(), view.answer.fastest != nullptr, index);
      };
      if (weight(i) > weight(network.main)) network.main = i;
    }
    ordered.push_back(std::move(network));
  }
  return ordered;
}

std::optional<BestBatch> BestBatchOf(const NetworkView& network, const std::string& series) {
  BestBatch best;
  for (const ComparisonView& view : network.by_batch) {
    for (const ReportCell& cell : view.cells) {
      if (cell.series != series || !cell.measured() || cell.ImageNs() <= 0) continue;
      ++best.measured;
      const double rate = 1e9 / cell.ImageNs();
      if (rate <= best.images_per_s) continue;
      best.images_per_s = rate;
      best.batch = cell.cell.Integer(kAxisBatch);
    }
  }
  if (best.measured < kFewestBatches) return std::nullopt;
  return best;
}

}  // namespace tench
