// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "report/group_steps.h"
#include "stats/stats.h"

namespace tench {
namespace {

// A run that failed early has neither the worker's version nor the network's fingerprint.
bool SameOrUnknown(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

// A version without a build is from an older file; its unknown build differs from every other.
template <class Other>
bool SameBuild(const ComparedCell& a, const Other& b) {
  const bool unknown = (a.worker_version.empty() && a.build.empty()) ||
                       (b.worker_version.empty() && b.build.empty());
  return unknown || (a.build == b.build && SameOrUnknown(a.worker_version, b.worker_version));
}

struct SideCells {
  std::vector<ComparedCell> cells;
  std::unordered_map<std::string, std::vector<size_t>> by_id;  // by machine and cell
  std::vector<bool> met;                                       // whether it has a partner

  ComparedCell& Find(const RunRecord& run);
  StudyNoise noise;
  GroupSteps steps;  // of all observed runs

  void Finish();
};

ComparedCell& SideCells::Find(const RunRecord& run) {
  std::vector<size_t>& known = by_id[run.machine_id + '\n' + run.cell_id];
  for (auto index = known.rbegin(); index != known.rend(); ++index) {
    ComparedCell& cell = cells[*index];
    if (!SameBuild(cell, run) || cell.rules != run.rules ||
        !SameOrUnknown(cell.fingerprint, run.fingerprint))
      continue;
    if (cell.worker_version.empty()) cell.worker_version = run.worker_version;
    if (cell.build.empty()) cell.build = run.build;
    if (cell.fingerprint.empty()) cell.fingerprint = run.fingerprint;
    return cell;
  }
  known.push_back(cells.size());
  ComparedCell cell;
  cell.cell = run.cell;
  cell.cell_id = run.cell_id;
  cell.worker_version = run.worker_version;
  cell.build = run.build;
  cell.rules = run.rules;
  cell.role = run.role_or_usual();
  cell.machine = run.machine;
  cell.machine_id = run.machine_id;
  cell.fingerprint = run.fingerprint;
  return cells.emplace_back(std::move(cell));
}

void SideCells::Finish() {
  met.assign(cells.size(), false);
  for (ComparedCell& cell : cells) {
    noise.MarkDisturbed(cell.times);
    cell.times = CountedTimes(std::move(cell.times));
    std::vector<double> medians;
    for (const RoundTime& time : cell.times) medians.push_back(time.image_ns);
    cell.median_ns = Median(std::move(medians));
  }
}

// Whether a ranking of a study shows both cells.
bool ShareStudy(const ComparedCell& a, const ComparedCell& b) {
  return std::any_of(a.times.begin(), a.times.end(), [&](const RoundTime& x) {
    return x.study != 0 && std::any_of(b.times.begin(), b.times.end(),
                                       [&](const RoundTime& y) { return x.study == y.study; });
  });
}

// The axes in which the rows of a ranking differ.
bool VariesInRanking(const std::string& axis) {
  return axis == Axes()[kAxisWorker].name || axis == kVersionAxis || SettingKey(axis).has_value();
}

bool ShareRuns(const ComparedCell& a, const ComparedCell& b) {
  return std::any_of(a.times.begin(), a.times.end(), [&](const RoundTime& x) {
    return std::any_of(b.times.begin(), b.times.end(),
                       [&](const RoundTime& y) { return x.run == y.run; });
  });
}

// nullopt if a run has no readings or the machines differ: sentinel times of different machines are
// not comparable.
std::optional<double> SentinelRatio(const Comparison& comparison) {
  std::vector<double> ratios;
  for (const CellPair& pair : comparison.pairs) {
    if (pair.a.machine_id != pair.b.machine_id) return std::nullopt;
    for (const RoundPair& round : pair.rounds) {
      const auto sum = [](const SentinelReadings& r) {
        return static_cast<double>(r.before.compute_ns + r.before.memory_ns + r.after.compute_ns +
                                   r.after.memory_ns);
      };
      const double a = sum(round.a.noise.sentinel), b = sum(round.b.noise.sentinel);
      if (a > 0 && b > 0) ratios.push_back(b / a);
    }
  }
  if (ratios.empty()) return std::nullopt;
  return GeometricMeanOf(ratios).value;
}

// Sets the times that are shown beside the pair's ratio. With `--of median` these are medians.
void SetPairedTimes(const Pairing& pairing, CellPair& pair, StepTime time) {
  const auto mean = [&](RoundTime RoundPair::*side) {
    std::vector<double> times;
    for (const RoundPair& round : pairing.rounds)
      times.push_back(time == StepTime::kShortest ? (round.*side).compared_ns
                                                  : (round.*side).image_ns);
    return times.empty() ? 0 : GeometricMeanOf(times).value;
  };
  const bool paired = !pairing.rounds.empty();
  pair.a.compared_ns = paired ? mean(&RoundPair::a) : MeanComparedNs(pair.a.times);
  pair.b.compared_ns = paired ? mean(&RoundPair::b) : MeanComparedNs(pair.b.times);
}

std::string WhyAmbiguous(const CellPair& pair) {
  const auto failed = [](const char* side, const ComparedCell& cell) {
    return fmt::format("{} failed: {}", side, cell.failure);
  };
  if (pair.a.times.empty()) return failed("A", pair.a);
  if (pair.b.times.empty()) return failed("B", pair.b);
  const int64_t rounds = pair.test.rounds;
  if (rounds == 0 && pair.dropped == 0) return "the sides have no round in common";
  if (rounds < kFewestRounds) {
    const std::string dropped =
        pair.dropped == 0 ? "" : fmt::format(" and {} disturbed", pair.dropped);
    return fmt::format("{} round{}{}; a verdict needs {}", rounds, rounds == 1 ? "" : "s", dropped,
                       kFewestRounds);
  }
  if (Contradicts(pair.medians, pair.test.region)) return "the medians say the opposite";
  if (pair.test.p <= kSignificance) return "not significant after the correction for all pairs";
  return "the interval is too wide";
}

}  // namespace

int64_t Comparison::Count(RatioVerdict verdict) const {
  return std::count_if(pairs.begin(), pairs.end(),
                       [&](const CellPair& pair) { return pair.verdict == verdict; });
}

bool Comparison::interleaved() const {
  return std::all_of(pairs.begin(), pairs.end(),
                     [](const CellPair& pair) { return pair.interleaved; });
}

class ComparisonBuilder::Impl {
 public:
  explicit Impl(CompareOptions options) : options_(std::move(options)) {}

  void Observe(Side side, const RunRecord& run) {
    SideCells& cells = sides_[static_cast<size_t>(side)];
    cells.noise.Add(run);
    cells.steps.Add(GroupKey(run.cell, run.machine_id), run);
  }
  void Add(Side side, const RunRecord& run);
  Comparison Finish();

 private:
  bool Compares(const std::string& axis) const { return options_.axes.contains(axis); }
  bool Compares(AxisIndex axis) const { return Compares(Axes()[axis].name); }
  bool VersionsMayDiffer() const {
    return Compares(kVersionAxis) || Compares(kMachineAxis) || Compares(kAxisWorker);
  }
  bool NetworksMayDiffer() const;
  std::string SharedKey(const Cell& cell, const std::string& machine_id) const;
  std::string GroupKey(const Cell& cell, const std::string& machine_id) const;
  bool Match(const ComparedCell& a, const ComparedCell& b) const;
  CellPair Pair(const ComparedCell& a, const ComparedCell& b) const;
  void Judge(Comparison& comparison) const;

  CompareOptions options_;
  std::array<SideCells, 2> sides_;
};

bool ComparisonBuilder::Impl::NetworksMayDiffer() const {
  return Compares(kAxisNetwork) || Compares(kAxisData) || Compares(kAxisLength) ||
         Compares(kAxisLabels);
}

void ComparisonBuilder::Impl::Add(Side side, const RunRecord& run) {
  if (run.outcome == Outcome::kInterrupted) return;
  ComparedCell& cell = sides_[static_cast<size_t>(side)].Find(run);
  if (run.outcome != Outcome::kOk) {
    ++cell.runs_failed;
    cell.failure = Name(run.outcome) + (run.reason.empty() ? "" : ": " + run.reason);
    return;
  }
  ++cell.runs_ok;
  if (const auto time = RoundTimeOf(run)) cell.times.push_back(*time);
}

// The shared axes of a pair's cells, as text.
std::string ComparisonBuilder::Impl::SharedKey(const Cell& cell,
                                               const std::string& machine_id) const {
  Cell shared = cell;
  for (size_t i = 0; i < Axes().size(); ++i) {
    if (Compares(Axes()[i].name)) shared.values[i] = Axes()[i].fallback;
  }
  if (Compares(kAxisWorker)) shared.options.clear();
  std::erase_if(shared.options,
                [&](const auto& option) { return Compares(SettingName(option.first)); });
  return (Compares(kMachineAxis) ? "" : machine_id) + '\n' + shared.Label();
}

// Names the cells that a ranking shows in one table with this one: `tench results`, or `--by` the
// compared axis.
std::string ComparisonBuilder::Impl::GroupKey(const Cell& cell,
                                              const std::string& machine_id) const {
  if (!std::all_of(options_.axes.begin(), options_.axes.end(), VariesInRanking))
    return SharedKey(cell, machine_id);
  Cell shared = cell;
  shared.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
  shared.options.clear();
  return machine_id + '\n' + shared.Label();
}

bool ComparisonBuilder::Impl::Match(const ComparedCell& a, const ComparedCell& b) const {
  if (a.times.empty() && b.times.empty()) return false;
  if (options_.rule.source == Source::kSameStore && ShareRuns(a, b)) return false;
  return (NetworksMayDiffer() || SameOrUnknown(a.fingerprint, b.fingerprint)) &&
         (VersionsMayDiffer() || SameBuild(a, b));
}

CellPair ComparisonBuilder::Impl::Pair(const ComparedCell& a, const ComparedCell& b) const {
  CellPair pair;
  pair.a = a;
  pair.b = b;
  std::vector<GroupStep> group;
  if (options_.rule.source == Source::kSameStore && ShareStudy(a, b))
    group = sides_[0].steps.Of(GroupKey(a.cell, a.machine_id), a.fingerprint);
  const auto times_of = [](ComparedCell& cell) {
    return ComparedTimes{cell.times, cell.role == Role::kOracle};
  };
  SetComparedTimes(std::array{times_of(pair.a), times_of(pair.b)}, group);
  Pairing pairing = PairRounds(pair.a.times, pair.b.times, options_.rule);
  SetPairedTimes(pairing, pair, options_.rule.time);
  pair.dropped = pairing.dropped;
  pair.medians = std::move(pairing.medians);
  pair.interleaved = pairing.interleaved;
  pair.turns = pairing.turns;
  pair.rounds = std::move(pairing.rounds);
  pair.test = std::move(pairing.test);
  return pair;
}

void ComparisonBuilder::Impl::Judge(Comparison& comparison) const {
  std::vector<const RatioTest*> tests;
  for (const CellPair& pair : comparison.pairs) tests.push_back(&pair.test);
  const std::vector<RatioJudgement> judgements = JudgeTable(tests);
  for (size_t i = 0; i < judgements.size(); ++i) {
    CellPair& pair = comparison.pairs[i];
    pair.corrected_p = judgements[i].corrected_p;
    pair.verdict = judgements[i].verdict;
    if (Contradicts(pair.medians, pair.verdict)) pair.verdict = RatioVerdict::kAmbiguous;
    if (pair.verdict == RatioVerdict::kAmbiguous) pair.reason = WhyAmbiguous(pair);
  }
}

Comparison ComparisonBuilder::Impl::Finish() {
  auto& [side_a, side_b] = sides_;
  side_a.Finish();
  side_b.Finish();
  std::unordered_map<std::string, std::vector<size_t>> partners;
  for (size_t i = 0; i < side_b.cells.size(); ++i)
    partners[SharedKey(side_b.cells[i].cell, side_b.cells[i].machine_id)].push_back(i);
  Comparison comparison;
  comparison.margin = options_.rule.margin;
  comparison.time = options_.rule.time;
  comparison.axes = options_.axes;
  for (size_t i = 0; i < side_a.cells.size(); ++i) {
    const ComparedCell& a = side_a.cells[i];
    for (const size_t j : partners[SharedKey(a.cell, a.machine_id)]) {
      const ComparedCell& b = side_b.cells[j];
      // A cell on both sides is its own baseline; it does not lack a partner.
      if (options_.rule.source == Source::kSameStore && ShareRuns(a, b)) side_b.met[j] = true;
      if (!Match(a, b)) continue;
      side_a.met[i] = side_b.met[j] = true;
      comparison.pairs.push_back(Pair(a, b));
    }
  }
  std::stable_sort(
      comparison.pairs.begin(), comparison.pairs.end(), [](const CellPair& x, const CellPair& y) {
        return std::tie(x.a.cell.values, x.a.cell.options, x.b.cell.values, x.b.cell.options) <
               std::tie(y.a.cell.values, y.a.cell.options, y.b.cell.values, y.b.cell.options);
      });
  Judge(comparison);
  comparison.sentinel_ratio = SentinelRatio(comparison);
  for (size_t i = 0; i < side_a.cells.size(); ++i) {
    if (!side_a.met[i]) comparison.only_a.push_back(std::move(side_a.cells[i]));
  }
  for (size_t i = 0; i < side_b.cells.size(); ++i) {
    if (!side_b.met[i]) comparison.only_b.push_back(std::move(side_b.cells[i]));
  }
  return comparison;
}

ComparisonBuilder::ComparisonBuilder(CompareOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ComparisonBuilder::ComparisonBuilder(ComparisonBuilder&&) noexcept = default;
ComparisonBuilder::~ComparisonBuilder() = default;
void ComparisonBuilder::Observe(Side side, const RunRecord& run) { impl_->Observe(side, run); }
void ComparisonBuilder::Add(Side side, const RunRecord& run) { impl_->Add(side, run); }
Comparison ComparisonBuilder::Finish() && { return impl_->Finish(); }

}  // namespace tench
