// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_tuner.h"

#include <algorithm>

#include "base/clock.h"
#include "workers/native/conv/conv_trial.h"

namespace tench::native {
namespace {

constexpr double kMargin = 0.97;  // a later candidate must beat the best so far by 3 %
// The measurements of one build; after that the default candidates are used.
constexpr int64_t kBudgetNs = 60'000'000'000;
constexpr int64_t kBusyBudgetNs = 20'000'000'000;  // on a busy machine
constexpr int kBusyThreshold = 3;                  // disturbed trials that make a machine busy

const char* Name(ConvDirection direction) {
  switch (direction) {
    case ConvDirection::kForward:
      return "forward";
    case ConvDirection::kBackwardData:
      return "backward_data";
    default:
      return "backward_weights";
  }
}

}  // namespace

ConvTuner::ConvTuner(const dnnl::engine& engine, TuneMode mode, int64_t threads, TunerCache cache)
    : engine_(engine), stream_(engine), mode_(mode), threads_(threads), cache_(std::move(cache)) {}

ConvCandidate ConvTuner::Choose(const ConvShape& shape, ConvDirection direction,
                                const Md& stored_weights) {
  if (forced_ >= 0) {
    std::vector<ConvCandidate> candidates =
        ListConvCandidates(shape, direction, stored_weights, engine_);
    return candidates[forced_ % candidates.size()];
  }
  if (mode_ == TuneMode::kOff) {
    // Usually the default of the blocked family exists, and the others need not be enumerated.
    std::vector<ConvCandidate> first =
        ListConvCandidates(shape, direction, stored_weights, engine_, "blocked/0");
    return first.empty() || IsPortable(first.front())
               ? ListConvCandidates(shape, direction, stored_weights, engine_).front()
               : first.front();
  }
  const std::string key = fmt::format("{} {}_t{}_f32{}", Name(direction), shape.Key(), threads_,
                                      shape.training ? "" : "_inference");
  std::optional<std::string> known = mode_ == TuneMode::kCache ? cache_.Find(key) : std::nullopt;
  if (const auto found = fresh_.find(key); found != fresh_.end()) known = found->second;
  if (known) {
    std::vector<ConvCandidate> candidates =
        ListConvCandidates(shape, direction, stored_weights, engine_, *known);
    if (!candidates.empty()) return candidates.front();
  }
  std::vector<ConvCandidate> candidates =
      ListConvCandidates(shape, direction, stored_weights, engine_);
  const bool spent = mode_ != TuneMode::kFull &&
                     spent_ns_ > (disturbed_ >= kBusyThreshold ? kBusyBudgetNs : kBudgetNs);
  if (candidates.size() == 1 || spent) return candidates.front();
  const std::string winner = Measure(TrialShape(shape, threads_), direction, stored_weights, key);
  const auto found =
      std::find_if(candidates.begin(), candidates.end(),
                   [&](const ConvCandidate& candidate) { return candidate.id == winner; });
  return found == candidates.end() ? candidates.front() : *found;
}

std::string ConvTuner::Measure(const ConvShape& shape, ConvDirection direction,
                               const Md& stored_weights, const std::string& key) {
  const int64_t begin_ns = NowNs();
  std::vector<ConvCandidate> candidates =
      ListConvCandidates(shape, direction, stored_weights, engine_);
  // Portable loops are last and never win.
  while (candidates.size() > 1 && IsPortable(candidates.back())) candidates.pop_back();
  measured_ += static_cast<int64_t>(candidates.size());
  const std::vector<ConvTrial::Time> times =
      ConvTrial(shape, direction, candidates, stored_weights, engine_).Run();
  size_t best = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    // The margin keeps noise from leaving the layout that neighbouring layers share.
    if (static_cast<double>(times[i].ns) < kMargin * static_cast<double>(times[best].ns)) best = i;
  }
  fresh_[key] = candidates[best].id;
  // Stored even if the trial was disturbed: the next run must compute the same bits, and the
  // minimum of several runs is seldom wrong.
  cache_.Remember(key, candidates[best].id);
  if (!std::all_of(times.begin(), times.end(),
                   [](const ConvTrial::Time& time) { return time.calm; }))
    ++disturbed_;
  spent_ns_ += NowNs() - begin_ns;
  return candidates[best].id;
}

}  // namespace tench::native
