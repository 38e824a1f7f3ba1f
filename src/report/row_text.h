// SPDX-License-Identifier: Apache-2.0
#pragma once
// The texts of a ranking's rows, shared by the terminal and the HTML page. Plain text without
// control characters; missing values are empty.
// Thread safety: pure functions.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"

namespace tench {

// A verdict that ends in '*' is from rounds that were not interleaved.
struct RowText {
  std::string rank, name, image_time, interval, images_per_s, step_time, gflops_per_s, peak_memory,
      loss, ratio, verdict, outcome, flags;
};

RowText TextOf(const Ranking& ranking, const RankGroup& group, const RankRow& row);

// "lenet on mnist, batch 64, train, threads=2": a cell without its worker and without the axes
// `left_out`.
std::string SharedTitle(const Cell& cell, std::span<const size_t> left_out);
// The title of a group: the axes that its rows share.
std::string GroupTitle(const Ranking& ranking, const RankGroup& group);
// "reference 1.0, lenet on mnist, batch 64, train": a row's whole cell.
std::string CellTitle(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// "out_of_memory, 2 of 5 runs".
std::string FailureTitle(const RankRow& row);
// "noise: around 60 runs the sentinel …"
std::string NoiseLine(const NoiseSummary& noise);
// "study 4: quick on pond, begun 2026-01-02T03:04:05Z, 12 cells × 5 rounds planned": one line per
// study, and one about its noise if it has sentinel readings.
std::vector<std::string> StudyLines(const Ranking& ranking);

// "torch 2.15.0 layout=nhwc": a cell's worker.
std::string WorkerTitle(const Cell& cell, const std::string& version);

// One line of printable UTF-8: control characters become blanks.
std::string PlainLine(std::string_view text);

}  // namespace tench
