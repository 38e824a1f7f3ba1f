// SPDX-License-Identifier: Apache-2.0
#pragma once
// The texts of a ranking's rows, shared by the terminal and the HTML page. Plain text without
// control characters; missing values are empty.
// Thread safety: pure functions.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"

namespace tench {

// A verdict that ends in '*' is from rounds that were not interleaved. `interval` is the 95 %
// interval of `ratio`, and `flags` lack those that all rows have.
struct RowText {
  std::string rank, name, image_time, median_time, interval, images_per_s, step_time, gflops_per_s,
      peak_memory, before_build, window, parity_error, loss, ratio, verdict, p50, p90, p99,
      first_step, loading, exposed, end_to_end, energy, idle_energy, cost, tuning, pays_after,
      steps, rounds, outcome, flags;
};

RowText TextOf(const Ranking& ranking, const RankGroup& group, const RankRow& row);

// Timed steps of the counted attempts: "100", or "80–100" if they differ; "" if there is none.
std::string StepsText(std::span<const RoundTime> times);
// The median over rounds of the duration of a run's timed steps; nullopt if it is unknown.
std::optional<double> MedianWindowNs(const RankRow& row);
// The row's flags without those that all measured rows have.
std::vector<std::string> OwnFlags(const Ranking& ranking, const RankRow& row);
// Images per second: four significant digits, thousands as "12.3k".
std::string RateText(double images_per_s);
// "137.6", or "137.6 effective".
std::string FlopsText(double flops_per_s, bool effective);
// "loss at step 12": the heading of the column of losses.
std::string LossTitle(const RankGroup& group);

// Explanations of the texts, for a reader of the table.
inline constexpr std::string_view kStatisticMeaning =
    "Times, ratios, intervals and verdicts compare each run's shortest stretch of steps, as "
    "geometric "
    "means over rounds. The median time, over rounds of each run's median step, is not compared.";
inline constexpr std::string_view kParityMeaning =
    "parity: the largest difference from the reference over its tolerance; at most 1 is verified";
inline constexpr std::string_view kEffectiveMeaning =
    "effective: arithmetic of the network's definition, of which a Winograd convolution executes "
    "less";

// "torch cannot use torch.compile: …", for WorkerLimits.
std::string LimitText(const std::string& worker, const std::string& limit);

// "lenet on mnist, batch 64, train, threads=2": a cell without its worker and without the axes
// `left_out`.
std::string SharedTitle(const Cell& cell, std::span<const size_t> left_out);
// The title of a group: the axes that its rows share.
std::string GroupTitle(const Ranking& ranking, const RankGroup& group);
// "reference 1.0+1a2b3c4, lenet on mnist, batch 64, train": a row's whole cell.
std::string CellTitle(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// "out_of_memory, 2 of 5 runs".
std::string FailureTitle(const RankRow& row);
// "noise: around 60 runs the sentinel …"
std::string NoiseLine(const NoiseSummary& noise);
// "study 4: quick on pond, begun 2026-01-02T03:04:05Z, 12 cells × 5 rounds planned, rules: 2": one
// line per study, one about its noise if it has sentinel readings, and one for the flags that all
// measured rows have.
std::vector<std::string> StudyLines(const Ranking& ranking);

// "torch 2.15.0+1a2b3c4 layout=nhwc": a cell's worker. The version and the build may be unknown.
std::string WorkerTitle(const Cell& cell, const std::string& version, const std::string& build);

// One line of printable UTF-8: control characters become blanks.
std::string PlainLine(std::string_view text);

}  // namespace tench
