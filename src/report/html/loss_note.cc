// SPDX-License-Identifier: Apache-2.0
#include "report/html/loss_note.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "stats/loss_agreement.h"

namespace tench {
namespace {

// Of the chart's height: about the width of three lines.
constexpr double kVisibleShare = 0.01, kSmallShare = 1e-4;

using Curve = std::vector<LossPoint>;

// The losses of both curves at the steps that they share, in order.
struct SharedLosses {
  std::vector<double> steps;
  LossTrace a, b;
};

SharedLosses Share(const Curve& a, const Curve& b) {
  SharedLosses shared;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].step == b[j].step) {
      shared.steps.push_back(a[i].step);
      shared.a.losses.push_back(a[i++].loss);
      shared.b.losses.push_back(b[j++].loss);
    } else {
      ++(a[i].step < b[j].step ? i : j);
    }
  }
  return shared;
}

double RangeOf(std::span<const ReportCell* const> curves) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const ReportCell* cell : curves) {
    for (const LossPoint& point : cell->series_data.loss) {
      if (!std::isfinite(point.loss)) continue;
      low = std::min(low, point.loss);
      high = std::max(high, point.loss);
    }
  }
  return high > low ? high - low : 0;
}

struct Difference {
  double largest = 0;                // share of the range
  std::optional<double> first_step;  // where it becomes visible
  const ReportCell *a = nullptr, *b = nullptr;
  bool undefined = false;     // one of the two losses is NaN or infinite there
  bool at_the_start = false;  // beyond the tolerance of equal computations
};

bool DifferAtTheStart(const SharedLosses& shared) {
  for (size_t i = 0; i < shared.steps.size() && i < kComparedLosses; ++i) {
    if (shared.steps[i] != static_cast<double>(i + 1)) break;
    const double difference = std::abs(shared.a.losses[i] - shared.b.losses[i]);
    if (!(difference <= LossAllowance(shared.a, shared.b, i, StepUpdate::kUpdates))) return true;
  }
  return false;
}

void Compare(const ReportCell& a, const ReportCell& b, double range, Difference& difference) {
  const SharedLosses shared = Share(a.series_data.loss, b.series_data.loss);
  for (size_t i = 0; i < shared.steps.size(); ++i) {
    const double x = shared.a.losses[i], y = shared.b.losses[i];
    if (!std::isfinite(x) && !std::isfinite(y)) continue;
    const bool undefined = !std::isfinite(x) || !std::isfinite(y);
    const double share = undefined ? 1 : range > 0 ? std::abs(x - y) / range : 0;
    difference.largest = std::max(difference.largest, share);
    const bool first = !difference.first_step || shared.steps[i] < *difference.first_step;
    if (share <= kVisibleShare || !first) continue;
    difference.first_step = shared.steps[i];
    difference.a = &a, difference.b = &b;
    difference.undefined = undefined;
  }
  difference.at_the_start |= DifferAtTheStart(shared);
}

}  // namespace

std::string LossNote(std::span<const ReportCell* const> curves) {
  if (curves.size() < 2) return "";
  if (std::any_of(curves.begin(), curves.end(),
                  [](const ReportCell* cell) { return cell->dropout.value_or(false); }))
    return "These curves differ, because every framework draws its own dropout masks.";
  const double range = RangeOf(curves);
  Difference difference;
  for (size_t i = 0; i < curves.size(); ++i) {
    for (size_t j = i + 1; j < curves.size(); ++j)
      Compare(*curves[i], *curves[j], range, difference);
  }
  if (!difference.first_step) {
    const std::string most = difference.largest < kSmallShare
                                 ? fmt::format("less than {} %", kSmallShare * 100)
                                 : fmt::format("at most {:.1g} %", difference.largest * 100);
    return "The curves coincide: equal computations. They differ by " + most +
           " of the range of the losses.";
  }
  const std::string where =
      fmt::format("The curves separate at step {:.0f} ({}, {})", *difference.first_step,
                  difference.a->series, difference.b->series);
  if (difference.undefined) return where + ", where a loss is undefined.";
  if (difference.at_the_start)
    return where +
           ": the first losses differ by more than rounding, so these runs did not compute "
           "the same.";
  return where +
         ": the first losses agree, and every update amplifies the frameworks' different rounding.";
}

}  // namespace tench
