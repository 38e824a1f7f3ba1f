// SPDX-License-Identifier: Apache-2.0
#include "stats/stretch.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench {
namespace {

size_t PlaceOf(int level, int highest) {
  return static_cast<size_t>(highest) * static_cast<size_t>(highest + 1) / 2 +
         static_cast<size_t>(level);
}

// Ascending means of the disjoint stretches of `length` steps.
std::vector<double> StretchMeans(std::span<const int64_t> step_ns, size_t length) {
  std::vector<double> means;
  for (size_t begin = 0; begin + length <= step_ns.size(); begin += length) {
    double sum = 0;
    for (const int64_t step : step_ns.subspan(begin, length)) sum += static_cast<double>(step);
    means.push_back(sum / static_cast<double>(length));
  }
  std::sort(means.begin(), means.end());
  return means;
}

}  // namespace

int StretchLevel(double longest_ns, double own_ns) {
  if (!(longest_ns > own_ns) || !(own_ns > 0)) return 0;
  return static_cast<int>(
      std::min(std::round(std::log2(longest_ns / own_ns)), double{kMostStretchLevel}));
}

double ExpectedMinimum(std::span<const double> sorted, int64_t count) {
  const auto n = static_cast<int64_t>(sorted.size());
  Check(count >= 1 && count <= n, "a minimum needs at least one value");
  // The share of subsets whose minimum is sorted[i]: C(n - 1 - i, count - 1) / C(n, count).
  double share = static_cast<double>(count) / static_cast<double>(n), mean = 0;
  for (int64_t i = 0; i + count <= n; ++i) {
    mean += share * sorted[static_cast<size_t>(i)];
    if (n - 1 - i > 0) share *= static_cast<double>(n - i - count) / static_cast<double>(n - 1 - i);
  }
  return mean;
}

StretchProfile StretchProfile::Of(std::span<const int64_t> step_ns) {
  Check(!step_ns.empty(), "a run without timed steps has no stretch");
  std::vector<std::vector<double>> means;
  for (int level = 0; level <= kMostStretchLevel; ++level) {
    means.push_back(StretchMeans(step_ns, size_t{1} << level));
    if (!means.back().empty()) continue;
    means.pop_back();
    break;
  }
  StretchProfile profile;
  profile.levels_ = static_cast<int>(means.size());
  for (int highest = 0; highest < profile.levels_; ++highest) {
    const auto count = static_cast<int64_t>(means[static_cast<size_t>(highest)].size());
    for (int level = 0; level <= highest; ++level)
      profile.step_ns_.push_back(ExpectedMinimum(means[static_cast<size_t>(level)], count));
  }
  return profile;
}

double StretchProfile::StepNs(int level, int highest) const {
  Check(level >= 0 && level <= highest, "a stretch's level is at most the highest");
  const int limit = levels_ - 1;
  return step_ns_[PlaceOf(std::min(level, limit), std::min(highest, limit))];
}

std::string StretchProfile::Encode() const {
  std::string text;
  for (const double step : step_ns_) text += fmt::format("{}{:.9g}", text.empty() ? "" : " ", step);
  return text;
}

Result<StretchProfile> StretchProfile::Decode(std::string_view text) {
  StretchProfile profile;
  for (const std::string& word : Split(text, ' ')) {
    const double step = TENCH_TRY(ParseReal(word).In("stretches"));
    if (!(step >= 0)) return Failed("stretches: '{}' is no time", Printable(word, 60));
    profile.step_ns_.push_back(step);
  }
  while (PlaceOf(0, profile.levels_ + 1) <= profile.step_ns_.size()) ++profile.levels_;
  if (profile.levels_ == 0 || PlaceOf(0, profile.levels_) != profile.step_ns_.size())
    return Failed("stretches: {} times are not a whole number of levels", profile.step_ns_.size());
  return profile;
}

}  // namespace tench
