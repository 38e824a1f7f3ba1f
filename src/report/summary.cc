// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "record/run_flag.h"
#include "report/direct_peak.h"
#include "report/group_steps.h"
#include "report/record_json.h"
#include "report/row_comparison.h"
#include "report/row_ranking.h"
#include "report/run_energy.h"
#include "report/stored_facts.h"
#include "stats/stats.h"

namespace tench {
namespace {

// The failed runs of a cell with the same outcome.
struct Failure {
  Outcome outcome = Outcome::kCrashed;
  int64_t count = 0;
  std::string reason, reproducer;  // of the newest run
};

// A row under construction. There may be a hundred thousand, so it stays small.
struct RowState {
  RankRow row;      // its times are of all ok runs
  size_t base = 0;  // index into bases
  std::string fingerprint;
  std::optional<double> low, high;  // of the newest ok run
  std::vector<Failure> failures;    // including `interrupted`
  int64_t parameters = 0, forward_flops_per_image = 0, step_flops = 0;
  int64_t last_run = 0;                                    // sequence number of the latest run
  std::vector<int64_t> start_ns, build_ns, first_step_ns;  // of the ok runs
  std::vector<double> loading_ns, exposed_ns, end_to_end_ns;
  std::vector<double> image_energy_j, idle_energy_share;
};

void NoteStart(const RunRecord& run, RowState& state) {
  const RunSummary& summary = run.summary;
  if (summary.hello_ns) state.start_ns.push_back(*summary.hello_ns);
  if (summary.build_ns) state.build_ns.push_back(*summary.build_ns);
  if (summary.first_step_ns) state.first_step_ns.push_back(*summary.first_step_ns);
  const auto images = static_cast<double>(std::max<int64_t>(run.cell.Integer(kAxisBatch), 1));
  if (summary.loading_ns_per_image) state.loading_ns.push_back(*summary.loading_ns_per_image);
  if (summary.input_ns_mean) state.exposed_ns.push_back(*summary.input_ns_mean / images);
  if (summary.end_to_end_ns_per_image)
    state.end_to_end_ns.push_back(*summary.end_to_end_ns_per_image);
  if (const auto joules = ImageEnergyJ(run)) {
    state.image_energy_j.push_back(*joules);
    if (const auto share = IdleEnergyShare(run)) state.idle_energy_share.push_back(*share);
  }
  state.row.settings = run.settings;
  state.row.tune_ns = summary.tune_ns;
  state.row.tune_pays_steps = summary.tune_pays_steps;
}

std::optional<double> MedianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

std::optional<double> MedianOf(const std::vector<int64_t>& values) {
  return values.empty() ? std::nullopt : std::optional(Summarize(values).median);
}

// Rows that are comparable, except for the network's fingerprint.
struct Base {
  Cell cell;
  std::string machine, machine_id;
  std::vector<size_t> rows;
};

// A run that failed early has neither the worker's version nor the network's fingerprint; it
// matches any.
bool Compatible(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

// A version without a build is from an older file; its unknown build differs from every other. A
// worker that was not installed has neither.
bool SameBuild(const RankRow& row, const RunRecord& run) {
  const bool unknown = (row.worker_version.empty() && row.build.empty()) ||
                       (run.worker_version.empty() && run.build.empty());
  return unknown || (row.build == run.build && Compatible(row.worker_version, run.worker_version));
}

void Adopt(std::string& known, const std::string& value) {
  if (known.empty()) known = value;
}

void AddFlags(RankRow& row, std::span<const std::string> flags) {
  for (const std::string& flag : flags) {
    const auto place = std::lower_bound(row.flags.begin(), row.flags.end(), flag);
    if (place == row.flags.end() || *place != flag) row.flags.insert(place, flag);
  }
}

void Count(Failure& failure, const RunRecord& run) {
  failure.outcome = run.outcome;
  ++failure.count;
  failure.reason = run.reason;
  failure.reproducer = run.reproducer;
}

// The median time of the row's steps. One run has its own interval.
Estimate MedianOf(const RowState& state) {
  std::vector<double> sorted;
  for (const RoundTime& time : state.row.times) sorted.push_back(time.image_ns * time.images);
  std::sort(sorted.begin(), sorted.end());
  Estimate estimate{Quantile(sorted, 0.5), state.low, state.high};
  if (sorted.size() < 2 || sorted.front() <= 0) return estimate;
  const Interval interval = GeometricMeanOf(sorted).interval;
  estimate.low = std::min(estimate.value, interval.low);
  estimate.high = std::max(estimate.value, interval.high);
  return estimate;
}

// Sets the outcome of a row, and the reason and reproducer of its failures.
void Judge(RowState& state, const StudyNoise& noise) {
  RankRow& row = state.row;
  noise.MarkDisturbed(row.times);
  const auto attempts = static_cast<int64_t>(row.times.size());
  row.times = CountedTimes(std::move(row.times));
  row.runs_ok -= attempts - static_cast<int64_t>(row.times.size());
  const bool disturbed = std::any_of(row.times.begin(), row.times.end(),
                                     [](const RoundTime& time) { return time.disturbed; });
  if (disturbed) AddFlags(row, std::array<std::string, 1>{kFlagDisturbed});
  const auto is_interrupted = [](const Failure& failure) {
    return failure.outcome == Outcome::kInterrupted;
  };
  if (row.runs_ok > 0 || state.failures.size() > 1) std::erase_if(state.failures, is_interrupted);
  const Failure* worst = nullptr;
  for (const Failure& failure : state.failures) {
    row.runs_failed += failure.count;
    if (worst == nullptr || failure.count > worst->count ||
        (failure.count == worst->count && failure.outcome > worst->outcome)) {
      worst = &failure;
    }
  }
  for (const Failure& failure : state.failures) {
    if (failure.outcome == Outcome::kWrong) worst = &failure;
  }
  if (worst != nullptr) {
    row.failure = worst->outcome;
    row.reason = worst->reason;
    row.reproducer = worst->reproducer;
    if (worst->count >= row.runs_ok || worst->outcome == Outcome::kWrong)
      row.outcome = worst->outcome;
  }
  if (!row.times.empty()) {
    row.median_step_ns = MedianOf(state);
    row.step_ns = ComparedStep(row);
    row.step_flops = state.step_flops;
  } else if (row.outcome == Outcome::kOk) {
    row.reason = "no step was timed";
  }
}

std::vector<std::string> CommonFlags(std::span<const RankGroup> groups) {
  std::vector<std::string> common;
  int64_t measured = 0;
  for (const RankGroup& group : groups) {
    for (const RankRow& row : group.rows) {
      if (!row.measured()) continue;
      if (++measured == 1) common = row.flags;
      std::erase_if(common, [&](const std::string& flag) { return !HasFlag(row.flags, flag); });
    }
  }
  return measured > 1 ? common : std::vector<std::string>();
}

}  // namespace

class RankingBuilder::Impl {
 public:
  Impl(std::optional<size_t> by, bool all_roles) : by_(by), all_roles_(all_roles) {}

  void Observe(const RunRecord& run) {
    noise_.Add(run);
    left_out_.Add(KeyOf(run), run);
  }
  void Add(const RunRecord& run);
  Ranking Finish();

 private:
  // A ranking always varies the worker, its version and its options.
  bool GroupsByWorker() const { return by_.has_value() && *by_ != kAxisWorker; }
  bool ByMachine() const { return by_ == kByMachine; }
  RowState& RowOf(const RunRecord& run);
  Cell SharedCell(const Cell& cell) const;
  std::string KeyOf(const RunRecord& run) const;
  size_t BaseOf(const RunRecord& run);
  void Split(Base& base, const std::string& key, Ranking& ranking);

  std::optional<size_t> by_;
  bool all_roles_;
  std::vector<std::unique_ptr<RowState>> rows_;
  std::vector<Base> bases_;
  std::unordered_multimap<uint64_t, size_t> rows_of_cell_;  // by the hash of machine and cell id
  std::unordered_map<std::string, size_t> base_of_key_;
  StudyNoise noise_;
  GroupSteps left_out_;  // of runs that were observed only
  TrainingTable trainings_;
  WorkerLimits limits_;
  std::set<int64_t> rules_;
  int64_t runs_ = 0;
};

// What the cells of a base have in common.
Cell RankingBuilder::Impl::SharedCell(const Cell& cell) const {
  Cell shared = cell;
  if (by_ && !ByMachine()) shared.values[*by_] = Axes()[*by_].fallback;
  if (!GroupsByWorker()) {
    shared.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
    shared.options.clear();
  }
  return shared;
}

std::string RankingBuilder::Impl::KeyOf(const RunRecord& run) const {
  std::string key = ByMachine() ? "" : run.machine_id + '\n';
  if (GroupsByWorker() && !ByMachine()) key += run.worker_version + '\n' + run.build + '\n';
  return key + SharedCell(run.cell).Label();
}

size_t RankingBuilder::Impl::BaseOf(const RunRecord& run) {
  const auto [found, is_new] = base_of_key_.emplace(KeyOf(run), bases_.size());
  if (is_new && ByMachine()) {
    bases_.push_back(Base{SharedCell(run.cell), "", "", {}});
  } else if (is_new) {
    bases_.push_back(Base{SharedCell(run.cell), run.machine, run.machine_id, {}});
  }
  return found->second;
}

RowState& RankingBuilder::Impl::RowOf(const RunRecord& run) {
  const uint64_t key = Hash64(run.machine_id + '\n' + run.cell_id);
  const auto [begin, end] = rows_of_cell_.equal_range(key);
  RowState* newest = nullptr;
  for (auto each = begin; each != end; ++each) {
    RowState& state = *rows_[each->second];
    const std::string& machine_id =
        ByMachine() ? state.row.machine_id : bases_[state.base].machine_id;
    const bool same_cell = state.row.cell_id == run.cell_id && machine_id == run.machine_id;
    const bool same_thing = SameBuild(state.row, run) && state.row.rules == run.rules &&
                            Compatible(state.row.solver, run.solver) &&
                            Compatible(state.fingerprint, run.fingerprint);
    if (same_cell && same_thing && (newest == nullptr || state.last_run > newest->last_run))
      newest = &state;
  }
  if (newest != nullptr) {
    Adopt(newest->row.worker_version, run.worker_version);
    Adopt(newest->row.build, run.build);
    Adopt(newest->row.solver, run.solver);
    Adopt(newest->fingerprint, run.fingerprint);
    return *newest;
  }
  rows_of_cell_.emplace(key, rows_.size());
  const size_t base = BaseOf(run);
  bases_[base].rows.push_back(rows_.size());
  RowState& state = *rows_.emplace_back(std::make_unique<RowState>());
  state.base = base;
  state.fingerprint = run.fingerprint;
  state.row.cell_id = run.cell_id;
  state.row.worker = run.cell.Text(kAxisWorker);
  state.row.role = run.role_or_usual();
  state.row.worker_version = run.worker_version;
  state.row.build = run.build;
  state.row.options = run.cell.options;
  state.row.solver = run.solver;
  state.row.rules = run.rules;
  state.row.cpu_model = run.cpu_model;
  state.row.isa = run.isa;
  if (ByMachine()) {
    state.row.by = run.machine;
    state.row.machine_id = run.machine_id;
  } else if (by_) {
    state.row.by = run.cell.values[*by_];
  }
  return state;
}

void RankingBuilder::Impl::Add(const RunRecord& run) {
  ++runs_;
  noise_.Add(run);
  trainings_.Add(run);
  limits_.Add(run);
  if (run.rules != kNoRules) rules_.insert(run.rules);
  RowState& state = RowOf(run);
  state.last_run = runs_;
  RankRow& row = state.row;
  if (run.role) row.role = *run.role;
  if (run.outcome != Outcome::kInterrupted) AddFlags(row, run.flags);
  if (run.threads > 0) row.threads = run.threads;
  if (run.parameters > 0) state.parameters = run.parameters;
  if (run.forward_flops_per_image > 0) state.forward_flops_per_image = run.forward_flops_per_image;
  if (run.step_flops > 0) state.step_flops = run.step_flops;
  row.peak_rss_bytes = std::max(row.peak_rss_bytes, PeakMemoryBytes(run));
  row.rss_before_build_bytes =
      std::max(row.rss_before_build_bytes, run.summary.rss_before_build_bytes);
  if (run.outcome == Outcome::kOk) {
    ++row.runs_ok;
    row.flops_effective |= ChoosesWinograd(run.choices_json);
    NoteStart(run, state);
    const auto time = RoundTimeOf(run);
    if (!time) return;
    state.row.times.push_back(*time);
    state.low = run.summary.step_ns_low;
    state.high = run.summary.step_ns_high;
    return;
  }
  const auto same =
      std::find_if(state.failures.begin(), state.failures.end(),
                   [&](const Failure& failure) { return failure.outcome == run.outcome; });
  Count(same != state.failures.end() ? *same : state.failures.emplace_back(), run);
}

// One group per fingerprint; rows without one join the first group.
void RankingBuilder::Impl::Split(Base& base, const std::string& key, Ranking& ranking) {
  const size_t first = ranking.groups.size();
  std::stable_sort(base.rows.begin(), base.rows.end(), [&](size_t a, size_t b) {
    return rows_[a]->fingerprint.empty() < rows_[b]->fingerprint.empty();
  });
  for (const size_t index : base.rows) {
    // Moved out and freed at once, so that both representations are never in memory together.
    const std::unique_ptr<RowState> owned = std::move(rows_[index]);
    RowState& state = *owned;
    Judge(state, noise_);
    state.row.start_ns = MedianOf(state.start_ns);
    state.row.build_ns = MedianOf(state.build_ns);
    state.row.first_step_ns = MedianOf(state.first_step_ns);
    state.row.loading_ns = MedianOf(std::move(state.loading_ns));
    state.row.exposed_ns = MedianOf(std::move(state.exposed_ns));
    state.row.end_to_end_ns = MedianOf(std::move(state.end_to_end_ns));
    state.row.energy_runs = static_cast<int64_t>(state.image_energy_j.size());
    state.row.image_energy_j = MedianOf(std::move(state.image_energy_j));
    state.row.idle_energy_share = MedianOf(std::move(state.idle_energy_share));
    auto group = std::find_if(
        ranking.groups.begin() + static_cast<std::ptrdiff_t>(first), ranking.groups.end(),
        [&](const RankGroup& g) { return Compatible(g.fingerprint, state.fingerprint); });
    if (group == ranking.groups.end()) {
      group = ranking.groups.insert(
          group,
          RankGroup{base.cell, base.machine, base.machine_id, state.fingerprint, 0, 0, 0, {}});
      group->rows.reserve(base.rows.size());
    }
    if (state.parameters > 0) group->parameters = state.parameters;
    if (state.forward_flops_per_image > 0)
      group->forward_flops_per_image = state.forward_flops_per_image;
    group->rows.push_back(std::move(state.row));
  }
  for (size_t i = first; i < ranking.groups.size(); ++i) {
    RankGroup& group = ranking.groups[i];
    RankRows(ranking, group, left_out_.Of(key, group.fingerprint));
  }
}

Ranking RankingBuilder::Impl::Finish() {
  Ranking ranking;
  ranking.by = by_;
  ranking.all_roles = all_roles_;
  ranking.runs = runs_;
  ranking.noise = noise_.Summaries();
  ranking.trainings = std::move(trainings_).Finish();
  ranking.limits = std::move(limits_);
  rows_of_cell_ = {};
  std::vector<std::string> keys(bases_.size());
  for (const auto& [key, base] : base_of_key_) {
    if (!left_out_.empty()) keys[base] = key;
  }
  base_of_key_ = {};
  for (size_t i = 0; i < bases_.size(); ++i) {
    const Base& base = bases_[i];
    Split(bases_[i], keys[i], ranking);
    ranking.several_machines |= base.machine_id != bases_.front().machine_id;
  }
  ranking.several_rules = rules_.size() > 1;
  ranking.common_flags = CommonFlags(ranking.groups);
  std::stable_sort(ranking.groups.begin(), ranking.groups.end(),
                   [](const RankGroup& a, const RankGroup& b) {
                     return std::tie(a.cell.values, a.cell.options, a.machine, a.fingerprint) <
                            std::tie(b.cell.values, b.cell.options, b.machine, b.fingerprint);
                   });
  return ranking;
}

Cell CellOf(const Ranking& ranking, const RankGroup& group, const RankRow& row) {
  Cell cell = group.cell;
  cell.values[kAxisWorker] = row.worker;
  cell.options = row.options;
  if (ranking.by && *ranking.by != kByMachine) cell.values[*ranking.by] = row.by;
  return cell;
}

Estimate PerImage(const Ranking& ranking, const RankGroup& group, const RankRow& row,
                  StepTime time) {
  const std::optional<Estimate>& step =
      time == StepTime::kShortest ? row.step_ns : row.median_step_ns;
  Check(step.has_value(), "a row without a time has no time per image");
  const int64_t batch =
      ranking.by == size_t{kAxisBatch} ? std::get<int64_t>(row.by) : group.cell.Integer(kAxisBatch);
  const auto images = static_cast<double>(std::max<int64_t>(batch, 1));
  Estimate image = *step;
  image.value /= images;
  if (image.low) *image.low /= images;
  if (image.high) *image.high /= images;
  return image;
}

RankingBuilder::RankingBuilder(std::optional<size_t> by, bool all_roles)
    : impl_(std::make_unique<Impl>(by, all_roles)) {}
RankingBuilder::RankingBuilder(RankingBuilder&&) noexcept = default;
RankingBuilder::~RankingBuilder() = default;
void RankingBuilder::Observe(const RunRecord& run) { impl_->Observe(run); }
void RankingBuilder::Add(const RunRecord& run) { impl_->Add(run); }
Ranking RankingBuilder::Finish() && { return impl_->Finish(); }

int64_t Ranking::FailedRows() const {
  int64_t count = 0;
  for (const RankGroup& group : groups) {
    count += std::count_if(group.rows.begin(), group.rows.end(),
                           [](const RankRow& row) { return row.HasFailed(); });
  }
  return count;
}

void Ranking::SetStudies(std::vector<StudyRecord> those) {
  studies = std::move(those);
  std::erase_if(noise, [&](const auto& one) {
    return std::none_of(studies.begin(), studies.end(),
                        [&](const StudyRecord& study) { return study.id == one.first; });
  });
  LabelEffectiveFlops(*this);
}

}  // namespace tench
