// SPDX-License-Identifier: Apache-2.0
#include "stats/loss_agreement.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"

namespace tench {
namespace {

constexpr const char* kOracle = "reference";
constexpr const char* kBaseline = "native";

double Movement(const LossTrace& trace, size_t step) {
  double farthest = 0;
  for (size_t i = 1; i <= step; ++i)
    farthest = std::max(farthest, std::abs(trace.losses[i] - trace.losses[0]));
  return farthest;
}

// The index of the first step whose losses differ by more than the tolerance.
std::optional<size_t> FirstDifference(const LossTrace& a, const LossTrace& b, StepUpdate update) {
  const size_t steps = std::min({a.losses.size(), b.losses.size(), kComparedLosses});
  for (size_t step = 0; step < steps; ++step) {
    const double difference = std::abs(a.losses[step] - b.losses[step]);
    // NaN agrees with no value.
    if (!(difference <= LossAllowance(a, b, step, update))) return step;
  }
  return std::nullopt;
}

// The agreement of distinct traces. Equal traces of one worker, such as those of its rounds, count
// as one.
class Jury {
 public:
  Jury(std::vector<const LossTrace*> traces, StepUpdate update)
      : traces_(std::move(traces)), update_(update), agree_(traces_.size() * traces_.size(), true) {
    for (size_t i = 0; i < traces_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool agree = !FirstDifference(*traces_[i], *traces_[j], update_);
        agree_[i * traces_.size() + j] = agree_[j * traces_.size() + i] = agree;
        unanimous_ = unanimous_ && agree;
      }
    }
  }

  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons(traces_.size());
    if (unanimous_) return reasons;
    bool decided = true;
    std::vector<bool> right = ByMajority();
    if (std::find(right.begin(), right.end(), true) == right.end()) {
      right = ByOracle();
      decided = std::find(right.begin(), right.end(), true) != right.end();
    }
    for (size_t i = 0; i < traces_.size(); ++i) {
      if (!right[i]) reasons[i] = Reason(i, right, decided);
    }
    return reasons;
  }

 private:
  bool Agree(size_t i, size_t j) const { return agree_[i * traces_.size() + j]; }

  std::vector<bool> ByMajority() const {
    std::set<std::string> voters;
    for (const LossTrace* trace : traces_) voters.insert(trace->worker);
    voters.erase(kBaseline);
    std::vector<bool> right(traces_.size());
    for (size_t i = 0; i < traces_.size(); ++i) {
      std::set<std::string> votes;
      for (size_t j = 0; j < traces_.size(); ++j) {
        if (Agree(i, j) && voters.contains(traces_[j]->worker)) votes.insert(traces_[j]->worker);
      }
      right[i] = votes.size() >= 2 && 2 * votes.size() > voters.size();
    }
    return right;
  }

  std::vector<bool> ByOracle() const {
    std::vector<bool> right(traces_.size());
    for (size_t i = 0; i < traces_.size(); ++i) {
      for (size_t j = 0; j < traces_.size(); ++j)
        right[i] = right[i] || (traces_[j]->worker == kOracle && Agree(i, j));
    }
    return right;
  }

  std::string Reason(size_t wrong, const std::vector<bool>& right, bool decided) const {
    std::vector<size_t> others;
    for (size_t j = 0; j < traces_.size(); ++j) {
      if (!Agree(wrong, j)) others.push_back(j);
    }
    if (std::any_of(others.begin(), others.end(), [&](size_t j) { return right[j]; }))
      std::erase_if(others, [&](size_t j) { return !right[j]; });
    Check(!others.empty(), "a wrong loss agrees with all others");
    // The order of runs is random, and all rounds of a worker should have the same reason.
    std::stable_sort(others.begin(), others.end(),
                     [&](size_t a, size_t b) { return traces_[a]->title < traces_[b]->title; });
    const LossTrace& trace = *traces_[wrong];
    size_t other = others[0], step = kComparedLosses;
    std::set<std::string> titles;
    for (const size_t j : others) {
      titles.insert(traces_[j]->title);
      const size_t first = *FirstDifference(trace, *traces_[j], update_);
      if (first >= step) continue;
      step = first;
      other = j;
    }
    return fmt::format("loss {:.6g} at step {}, but {:.6g} with {} (allowed difference {:.2g}){}",
                       trace.losses[step], step + 1, traces_[other]->losses[step],
                       fmt::join(titles, ", "),
                       LossAllowance(trace, *traces_[other], step, update_),
                       decided ? "" : "; no majority of workers agrees");
  }

  const std::vector<const LossTrace*> traces_;
  const StepUpdate update_;
  std::vector<bool> agree_;
  bool unanimous_ = true;
};

}  // namespace

double LossAllowance(const LossTrace& a, const LossTrace& b, size_t step, StepUpdate update) {
  const double size = std::max(std::abs(a.losses[step]), std::abs(b.losses[step]));
  const double moved =
      update == StepUpdate::kUpdates ? std::max(Movement(a, step), Movement(b, step)) : 0;
  return kLossShare * size + kLossFloor + kMovementShare * moved;
}

std::vector<std::string> JudgeLosses(std::span<const LossTrace> traces, StepUpdate update) {
  // By bits, which are ordered even for NaN.
  std::map<std::pair<std::string, std::vector<uint64_t>>, size_t> places;
  std::vector<size_t> place_of;
  std::vector<const LossTrace*> distinct;
  std::set<std::string> titles;
  for (const LossTrace& trace : traces) {
    std::vector<uint64_t> bits;
    for (const double loss : trace.losses) bits.push_back(std::bit_cast<uint64_t>(loss));
    const auto [found, is_new] =
        places.try_emplace({trace.title, std::move(bits)}, distinct.size());
    if (is_new) distinct.push_back(&trace);
    place_of.push_back(found->second);
    titles.insert(trace.title);
  }
  std::vector<std::string> reasons(traces.size());
  if (titles.size() < 2) return reasons;
  const std::vector<std::string> found = Jury(std::move(distinct), update).Reasons();
  for (size_t i = 0; i < traces.size(); ++i) reasons[i] = found[place_of[i]];
  return reasons;
}

}  // namespace tench
