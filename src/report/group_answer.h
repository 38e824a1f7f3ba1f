// SPDX-License-Identifier: Apache-2.0
#pragma once
// The answer of a comparison: the fastest framework, its lead over the next one with interval and
// verdict, and its speed relative to the baseline. The terminal, the sweep's closing lines and the
// HTML report all show this one answer, so a pair of workers has one ratio everywhere.
//
// Invariants: with fewer paired rounds than a verdict needs there is no winner and no interval. A
// group that has frameworks is never won by a baseline or an oracle, unless all roles are ranked.
// Thread safety: pure functions; an GroupAnswer refers to the rows of its group.

#include <optional>
#include <string>
#include <vector>

#include "report/summary.h"

namespace tench {

enum class AnswerKind {
  kNothing,  // no row is ranked
  kAlone,    // one row is ranked, so there is no comparison
  kTooFew,   // too few rounds for a verdict
  kDecided,  // a verdict: faster, same or ambiguous
};

struct GroupAnswer {
  AnswerKind kind = AnswerKind::kNothing;
  const RankRow* fastest = nullptr;   // the row of rank 1
  const RankRow* next = nullptr;      // the row of rank 2
  const RankRow* baseline = nullptr;  // the fastest measured baseline, unless it is ranked
  int64_t rounds = 0;                 // paired ones of the first two rows
  double lead = 1;                    // the next row's time over the fastest row's
  std::optional<Interval> interval;   // 95 %, of the lead
  RatioVerdict verdict = RatioVerdict::kAmbiguous;  // on the fastest row

  // A framework is faster than all others with confidence.
  bool won() const { return kind == AnswerKind::kDecided && verdict == RatioVerdict::kFaster; }
};

GroupAnswer AnswerOf(const RankGroup& group);

// The 95 % interval of the row's ratio to the fastest one; nullopt with too few rounds.
std::optional<Interval> RatioInterval(const RankRow& row);

// "torch 2.1 is the fastest framework: 1.42× the speed of mxnet 1.9 (95 %: 1.38 … 1.47), faster;
// 58 % of native's speed". One line for a terminal.
std::string AnswerText(const Ranking& ranking, const RankGroup& group);

// One line per group: "lenet, batch 64, train: torch 2.1 is the fastest framework: …". At most
// `most` lines, and one that counts the others.
std::vector<std::string> AnswerLines(const Ranking& ranking, size_t most);

// "1.38 … 1.47", as many digits as the interval's width deserves.
std::string IntervalText(const Interval& interval);
// "58 % of native's speed"; "" without a measured baseline. The rows are of one group.
std::string BaselineText(const GroupAnswer& answer);

}  // namespace tench
