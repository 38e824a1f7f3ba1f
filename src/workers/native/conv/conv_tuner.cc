// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_tuner.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "workers/native/conv/conv_trial.h"

namespace tench::native {
namespace {

constexpr double kMargin = 0.97;  // a later candidate must beat the best so far by 3 %

char Letter(ConvDirection direction) {
  switch (direction) {
    case ConvDirection::kForward:
      return 'f';
    case ConvDirection::kBackwardData:
      return 'd';
    default:
      return 'w';
  }
}

std::string KeyOf(const ConvShape& shape, ConvDirection direction) {
  return fmt::format("{}_{}", Letter(direction), shape.Key());
}

}  // namespace

Result<ConvSelection> ParseConvSelection(std::string_view text) {
  ConvSelection selection;
  for (const std::string& entry : Split(text, ';')) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
      return Failed("'{}' is not of the form KEY=CANDIDATE", Printable(entry, 60));
    if (!selection.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second)
      return Failed("{} is given twice", Printable(entry.substr(0, equals), 60));
  }
  return selection;
}

std::string PrintConvSelection(const ConvSelection& selection) {
  std::vector<std::string> entries;
  for (const auto& [key, id] : selection) entries.push_back(fmt::format("{}={}", key, id));
  return Join(entries, ";");
}

ConvTuner::ConvTuner(const dnnl::engine& engine, int64_t threads, Settings settings)
    : engine_(engine),
      mode_(settings.mode),
      threads_(threads),
      budget_ns_(settings.budget_ns),
      selection_(std::move(settings.selection)),
      algorithm_(std::move(settings.algorithm)) {}

// Usually the default of the blocked family exists, and the others need not be enumerated.
ConvCandidate ConvTuner::Blocked(const ConvShape& shape, ConvDirection direction,
                                 const Md& stored_weights) {
  std::vector<ConvCandidate> first =
      ListConvCandidates(shape, direction, stored_weights, engine_, "blocked/0");
  return first.empty() || IsPortable(first.front())
             ? ListConvCandidates(shape, direction, stored_weights, engine_).front()
             : first.front();
}

ConvCandidate ConvTuner::Choose(const ConvShape& shape, ConvDirection direction,
                                const Md& stored_weights) {
  if (mode_ == TuneMode::kBlocked && forced_ < 0) return Blocked(shape, direction, stored_weights);
  const auto candidate = [&](int64_t index) {
    std::vector<ConvCandidate> all = ListConvCandidates(shape, direction, stored_weights, engine_);
    return all[static_cast<size_t>(index) % all.size()];
  };
  if (forced_ >= 0) return candidate(forced_);
  if (!algorithm_.empty()) {
    ++chosen_;
    std::vector<ConvCandidate> all = ListConvCandidates(shape, direction, stored_weights, engine_);
    for (ConvCandidate& one : all) {
      if (AlgorithmOf(one) != algorithm_ || IsPortable(one)) continue;
      ++obeyed_;
      return std::move(one);
    }
    return std::move(all.front());
  }
  if (mode_ == TuneMode::kDefault) return candidate(0);
  const std::string key = KeyOf(shape, direction);
  const auto known = selection_.find(key);
  if (known == selection_.end() && (mode_ == TuneMode::kFixed || spent_ns_ >= budget_ns_))
    return candidate(0);
  const std::string id = known != selection_.end()
                             ? known->second
                             : Measure(TrialShape(shape, threads_), direction, stored_weights);
  std::vector<ConvCandidate> candidates =
      ListConvCandidates(shape, direction, stored_weights, engine_, id);
  if (candidates.empty()) {
    // The trial's smaller batch may have candidates that the whole batch lacks.
    if (mode_ == TuneMode::kFixed)
      problem_ = Failed("option convolutions: {} has no candidate '{}' in this build", key,
                        Printable(id, 60));
    return candidate(0);
  }
  selection_[key] = id;
  return candidates.front();
}

std::string ConvTuner::Measure(const ConvShape& shape, ConvDirection direction,
                               const Md& stored_weights) {
  const int64_t begin_ns = NowNs();
  std::vector<ConvCandidate> candidates =
      ListConvCandidates(shape, direction, stored_weights, engine_);
  // Portable loops are last and never win.
  while (candidates.size() > 1 && IsPortable(candidates.back())) candidates.pop_back();
  size_t best = 0;
  if (candidates.size() > 1) {
    measured_ += static_cast<int64_t>(candidates.size());
    const std::vector<ConvTrial::Time> times =
        ConvTrial(shape, direction, candidates, stored_weights, engine_).Run();
    for (size_t i = 1; i < times.size(); ++i) {
      // The margin keeps noise from leaving the layout that neighbouring layers share.
      if (static_cast<double>(times[i].ns) < kMargin * static_cast<double>(times[best].ns))
        best = i;
    }
  }
  spent_ns_ += NowNs() - begin_ns;
  return candidates[best].id;
}

}  // namespace tench::native
