// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_tuner.h"

#include <algorithm>

#include "base/clock.h"
#include "workers/native/conv/conv_trial.h"

namespace tench::native {
namespace {

constexpr double kMargin = 0.97;  // a later candidate has to be faster by this factor
constexpr int64_t kBudgetNs =
    60'000'000'000;  // of all measurements of a build; what is left then takes the first candidate
constexpr int64_t kBusyBudgetNs = 20'000'000'000;  // the same on a busy machine
constexpr int kPatience = 3;  // disturbed choices after which it counts as busy

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
                                const Md& home_weights) {
  if (forced_ >= 0) {
    std::vector<ConvCandidate> kernels =
        ListConvCandidates(shape, direction, home_weights, engine_);
    return kernels[forced_ % kernels.size()];
  }
  if (mode_ == TuneMode::kOff) {
    // Most often the first of the first family will do, and the others need not be asked for.
    std::vector<ConvCandidate> first =
        ListConvCandidates(shape, direction, home_weights, engine_, "blocked/0");
    return first.empty() || IsPortable(first.front())
               ? ListConvCandidates(shape, direction, home_weights, engine_).front()
               : first.front();
  }
  const std::string key = fmt::format("{} {}_t{}_f32{}", Name(direction), shape.Key(), threads_,
                                      shape.training ? "" : "_inference");
  std::optional<std::string> known = mode_ == TuneMode::kCache ? cache_.Find(key) : std::nullopt;
  if (const auto found = fresh_.find(key); found != fresh_.end()) known = found->second;
  if (known) {
    std::vector<ConvCandidate> kernels =
        ListConvCandidates(shape, direction, home_weights, engine_, *known);
    if (!kernels.empty()) return kernels.front();
  }
  std::vector<ConvCandidate> kernels = ListConvCandidates(shape, direction, home_weights, engine_);
  const bool spent =
      mode_ != TuneMode::kFull && spent_ns_ > (disturbed_ >= kPatience ? kBusyBudgetNs : kBudgetNs);
  if (kernels.size() == 1 || spent) return kernels.front();
  const std::string winner = Measure(TrialShape(shape, threads_), direction, home_weights, key);
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const ConvCandidate& kernel) { return kernel.id == winner; });
  return found == kernels.end() ? kernels.front() : *found;
}

std::string ConvTuner::Measure(const ConvShape& shape, ConvDirection direction,
                               const Md& home_weights, const std::string& key) {
  const int64_t begin_ns = NowNs();
  std::vector<ConvCandidate> kernels = ListConvCandidates(shape, direction, home_weights, engine_);
  // They come last, and never win.
  while (kernels.size() > 1 && IsPortable(kernels.back())) kernels.pop_back();
  measured_ += static_cast<int64_t>(kernels.size());
  const std::vector<ConvTrial::Time> times =
      ConvTrial(shape, direction, kernels, home_weights, engine_).Run();
  size_t best = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    // Noise alone should not lead away from the common layout, which neighbours share.
    if (static_cast<double>(times[i].ns) < kMargin * static_cast<double>(times[best].ns)) best = i;
  }
  fresh_[key] = kernels[best].id;
  // Remembered even if other work got in the way: the next run has to compute the same bits, and
  // the shortest of several turns is seldom wrong.
  cache_.Remember(key, kernels[best].id);
  if (!std::all_of(times.begin(), times.end(),
                   [](const ConvTrial::Time& time) { return time.calm; }))
    ++disturbed_;
  spent_ns_ += NowNs() - begin_ns;
  return kernels[best].id;
}

}  // namespace tench::native
