// SPDX-License-Identifier: Apache-2.0
#pragma once
// The comparisons of a report, one per group of the ranking, with the answer and the cells of each.
// Refers to the ReportData that it is made of, which must outlive it.
// Thread safety: pure functions.

#include <span>
#include <string>
#include <vector>

#include "report/group_answer.h"
#include "report/html/report_data.h"

namespace tench {

struct ComparisonView {
  const RankGroup* group = nullptr;
  std::span<const ReportCell> cells;  // in the order of the group's rows
  GroupAnswer answer;

  // Of a row of the group.
  const ReportCell& CellOf(const RankRow& row) const;
  const std::string& SeriesOf(const RankRow& row) const;
  const std::string& Title(const ReportData& data) const;
  size_t MeasuredFrameworks() const;
};

// In the order of the ranking's groups.
std::vector<ComparisonView> ComparisonsOf(const ReportData& data);

// Comparisons that differ only in the batch size, by batch; a tile of the page each.
struct NetworkView {
  std::vector<ComparisonView> by_batch;
  size_t main = 0;  // the comparison with the most frameworks, then of the largest batch

  const ComparisonView& Main() const { return by_batch[main]; }
};
std::vector<NetworkView> NetworksOf(const ReportData& data);

// The batch size at which a worker processes the most images per second.
struct BestBatch {
  int64_t batch = 0, measured = 0;  // measured = the number of batch sizes
  double images_per_s = 0;
};
// nullopt if fewer than three batch sizes were measured with the worker.
std::optional<BestBatch> BestBatchOf(const NetworkView& network, const std::string& series);

}  // namespace tench
