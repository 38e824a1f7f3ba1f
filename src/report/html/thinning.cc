// SPDX-License-Identifier: Apache-2.0
#include "report/html/thinning.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "record/sample_series.h"
#include "stats/stats.h"

namespace tench {
namespace {

constexpr size_t kMaxLossPoints = 60, kMaxUsePoints = 80, kMarkedPoints = 5;
// CPU time is counted in ticks of 10 ms, so that a rate over a shorter interval may be far too
// high.
constexpr int64_t kShortestIntervalNs = 50'000'000;

std::vector<LossPoint> ThinLoss(const std::vector<double>& loss) {
  std::set<size_t> kept;
  if (!loss.empty()) kept.insert(loss.size() - 1);
  const double end = std::log(static_cast<double>(loss.size()) + 1);
  for (size_t i = 0; i < kMaxLossPoints; ++i) {
    const double place = std::exp(end * static_cast<double>(i) / kMaxLossPoints) - 1;
    if (static_cast<size_t>(place) < loss.size()) kept.insert(static_cast<size_t>(place));
  }
  size_t marked = 0;
  for (size_t i = 0; i < loss.size() && marked < kMarkedPoints; ++i) {
    if (loss[i] < 0 || !std::isfinite(loss[i])) kept.insert(i), ++marked;
  }
  std::vector<LossPoint> points;
  for (const size_t i : kept) points.push_back({static_cast<double>(i + 1), loss[i]});
  return points;
}

void Raise(std::optional<double>& highest, int64_t value) {
  if (value >= 0) highest = std::max(highest.value_or(0), static_cast<double>(value));
}

std::vector<UsePoint> ThinUse(const std::string& blob) {
  std::vector<UsePoint> points;
  const Result<SampleSeries> decoded = SampleSeries::Decode(blob);
  if (!decoded.ok() || decoded->empty()) return points;
  std::vector<Sample> samples = decoded->samples();
  // The last samples may be of a process that has released its memory.
  while (samples.size() > 1 && samples.back().rss_bytes == 0) samples.pop_back();
  const size_t stride = (samples.size() + kMaxUsePoints - 1) / kMaxUsePoints;
  const Sample* before = nullptr;
  for (size_t i = 0; i < samples.size(); i += stride) {
    // A point is the maximum of its samples, because readers look for peaks.
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end =
        samples.begin() + static_cast<std::ptrdiff_t>(std::min(i + stride, samples.size()));
    const Sample& top = *std::max_element(
        begin, end, [](const Sample& a, const Sample& b) { return a.rss_bytes < b.rss_bytes; });
    const Sample& last = *std::prev(end);
    UsePoint point;
    point.time_s = static_cast<double>(top.time_ns - samples.front().time_ns) / 1e9;
    point.rss_bytes = static_cast<double>(top.rss_bytes);
    point.swap_bytes = static_cast<double>(top.swap_bytes);
    if (before == nullptr) {
      before = &last;
    } else if (last.time_ns - before->time_ns >= kShortestIntervalNs) {
      point.cpus = std::max(0.0, static_cast<double>(last.cpu_ns - before->cpu_ns)) /
                   static_cast<double>(last.time_ns - before->time_ns);
      before = &last;
    } else {
      point.cpus = points.back().cpus;
    }
    for (auto each = begin; each != end; ++each) {
      Raise(point.gpu_use_percent, each->gpu_use_percent);
      Raise(point.gpu_memory_bytes, each->gpu_memory_bytes);
    }
    points.push_back(point);
  }
  // The first point has no preceding sample.
  if (points.size() > 1) points[0].cpus = points[1].cpus;
  return points;
}

}  // namespace

std::optional<double> StepsPerEpoch(const Cell& cell, const Budget& budget, size_t timed_steps) {
  // A resident batch is one part of a data set, so that passes over it are no epochs.
  if (cell.Text(kAxisInput) == "fixed") return std::nullopt;
  const int64_t images = cell.Integer(kAxisImages),
                batch = std::max<int64_t>(cell.Integer(kAxisBatch), 1);
  if (images > 0) return std::max<double>(1, static_cast<double>(images / batch));
  // A target may end a run before its epochs.
  if (budget.epochs > 0 && budget.until.empty() && timed_steps > 0)
    return static_cast<double>(timed_steps) / static_cast<double>(budget.epochs);
  return std::nullopt;
}

CellSeries Thinned(const RunSeries& series, const Cell& cell, const Budget& budget) {
  CellSeries thin;
  thin.steps_per_epoch = StepsPerEpoch(cell, budget, series.step_ns.size());
  thin.loss = ThinLoss(series.loss);
  thin.use = ThinUse(series.samples);
  for (const std::vector<int64_t>* steps : {&series.warmup_ns, &series.step_ns}) {
    if (!thin.first_step_ns && !steps->empty())
      thin.first_step_ns = static_cast<double>(steps->front());
  }
  if (!series.step_ns.empty()) {
    std::vector<double> sorted(series.step_ns.begin(), series.step_ns.end());
    std::sort(sorted.begin(), sorted.end());
    for (const double q : {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0})
      thin.step_ns_quantiles.push_back(Quantile(sorted, q));
  }
  return thin;
}

}  // namespace tench
