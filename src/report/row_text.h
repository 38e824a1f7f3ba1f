// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ranking's rows in people's words, in one place so that the terminal and the HTML page say the
// same. Plain text, without control characters; what was not measured is empty.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"

namespace tench {

// A verdict that ends in '*' is of rounds that were not run side by side.
struct RowText {
  std::string rank, name, image_time, interval, images_per_s, step_time, gflops_per_s, peak_memory,
      loss, ratio, verdict, outcome, flags;
};

RowText TextOf(const Ranking& ranking, const RankGroup& group, const RankRow& row);

// "lenet on mnist, batch 64, train, threads=2": a cell without its worker and without the axes
// `left_out`.
std::string SharedTitle(const Cell& cell, std::span<const size_t> left_out);
// The same of what the rows of a group share.
std::string GroupTitle(const Ranking& ranking, const RankGroup& group);
// "reference 1.0, lenet on mnist, batch 64, train": a row's whole cell.
std::string CellTitle(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// "out_of_memory, 2 of 5 runs".
std::string FailureTitle(const RankRow& row);
// "noise: around 60 runs the sentinel …": how noisy the machine was.
std::string NoiseLine(const NoiseSummary& noise);
// "study 4: quick on pond, begun 2026-01-02T03:04:05Z, 12 cells × 5 rounds planned": a line per
// study, and one about its noise where the sentinel watched.
std::vector<std::string> StudyLines(const Ranking& ranking);

// "torch 2.15.0 layout=nhwc": a cell's worker.
std::string WorkerTitle(const Cell& cell, const std::string& version);

// One line of printable UTF-8: control characters become blanks.
std::string PlainLine(std::string_view text);

}  // namespace tench
