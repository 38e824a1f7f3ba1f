// SPDX-License-Identifier: Apache-2.0
#include "report/group_answer.h"

#include <algorithm>

#include "report/row_text.h"

namespace tench {
namespace {

RatioVerdict Opposite(RatioVerdict verdict) {
  if (verdict == RatioVerdict::kSlower) return RatioVerdict::kFaster;
  return verdict == RatioVerdict::kFaster ? RatioVerdict::kSlower : verdict;
}

const RankRow* RowOfRank(const RankGroup& group, int64_t rank) {
  const auto found = std::find_if(group.rows.begin(), group.rows.end(),
                                  [&](const RankRow& row) { return row.rank == rank; });
  return found == group.rows.end() ? nullptr : &*found;
}

const RankRow* BaselineOf(const RankGroup& group) {
  const RankRow* fastest = nullptr;
  for (const RankRow& row : group.rows) {
    const bool is_line = row.role == Role::kBaseline && row.measured() && row.rank == 0;
    if (is_line && (fastest == nullptr || row.ratio < fastest->ratio)) fastest = &row;
  }
  return fastest;
}

bool AnyFramework(const RankGroup& group) {
  return std::any_of(group.rows.begin(), group.rows.end(), [](const RankRow& row) {
    return row.rank > 0 && row.role == Role::kFramework;
  });
}

std::string DecidedText(const GroupAnswer& answer, const std::string& first,
                        const std::string& second, std::string_view noun) {
  const std::string interval =
      answer.interval ? fmt::format(" (95 %: {})", IntervalText(*answer.interval)) : "";
  switch (answer.verdict) {
    case RatioVerdict::kFaster:
      return fmt::format("{} is the fastest{}: {:.2f}× the speed of {}{}, faster", first, noun,
                         answer.lead, second, interval);
    case RatioVerdict::kSame:
      return fmt::format("{} and {} are the fastest{}{}, the same: {:.2f}×{}", first, second, noun,
                         noun.empty() ? "" : "s", answer.lead, interval);
    case RatioVerdict::kSlower:
    case RatioVerdict::kAmbiguous:
      break;
  }
  return fmt::format("no clear winner: {} over {} {:.2f}×{}, ambiguous", first, second, answer.lead,
                     interval);
}

}  // namespace

std::optional<Interval> RatioInterval(const RankRow& row) {
  if (!row.against_best || row.against_best->rounds < kFewestRounds) return std::nullopt;
  return row.against_best->interval;
}

GroupAnswer AnswerOf(const RankGroup& group) {
  GroupAnswer answer;
  answer.fastest = RowOfRank(group, 1);
  answer.next = RowOfRank(group, 2);
  answer.baseline = BaselineOf(group);
  if (answer.fastest == nullptr) return answer;
  answer.kind = AnswerKind::kAlone;
  if (answer.next == nullptr) return answer;
  answer.lead = answer.next->ratio;
  answer.rounds = answer.next->against_best ? answer.next->against_best->rounds : 0;
  answer.kind = answer.rounds < kFewestRounds ? AnswerKind::kTooFew : AnswerKind::kDecided;
  answer.interval = RatioInterval(*answer.next);
  answer.verdict = Opposite(answer.next->verdict);
  return answer;
}

std::string IntervalText(const Interval& interval) {
  const auto text = [](double end) {
    return fmt::format("{:.{}f}", end, end < 0.1 ? 3 : end < 10 ? 2 : 1);
  };
  return text(interval.low) + " … " + text(interval.high);
}

std::string BaselineText(const GroupAnswer& answer) {
  if (answer.baseline == nullptr || answer.fastest == nullptr) return "";
  return fmt::format("{:.0f} % of {}'s speed", answer.baseline->ratio * 100,
                     PlainLine(answer.baseline->worker));
}

std::string AnswerText(const Ranking& ranking, const RankGroup& group) {
  const GroupAnswer answer = AnswerOf(group);
  if (answer.kind == AnswerKind::kNothing) return "nothing was measured";
  const auto name = [&](const RankRow& row) { return TextOf(ranking, group, row).name; };
  const std::string_view noun = !ranking.all_roles && AnyFramework(group) ? " framework" : "";
  std::string text;
  if (answer.kind == AnswerKind::kAlone) {
    text = fmt::format("{} is the only{} measured", name(*answer.fastest),
                       noun.empty() ? " worker" : noun);
  } else if (answer.kind == AnswerKind::kTooFew) {
    text = fmt::format("no winner: {} paired round{}; a verdict needs {}", answer.rounds,
                       answer.rounds == 1 ? "" : "s", kFewestRounds);
    return text;
  } else {
    text = DecidedText(answer, name(*answer.fastest), name(*answer.next), noun);
  }
  if (const std::string share = BaselineText(answer); !share.empty()) text += "; " + share;
  return text;
}

std::vector<std::string> AnswerLines(const Ranking& ranking, size_t most) {
  std::vector<std::string> lines;
  for (const RankGroup& group : ranking.groups) {
    if (lines.size() == most) break;
    lines.push_back(GroupTitle(ranking, group) + ": " + AnswerText(ranking, group));
  }
  if (ranking.groups.size() > most)
    lines.push_back(fmt::format("and {} more comparison{}", ranking.groups.size() - most,
                                ranking.groups.size() - most == 1 ? "" : "s"));
  return lines;
}

}  // namespace tench
