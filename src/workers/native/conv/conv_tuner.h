// SPDX-License-Identifier: Apache-2.0
#pragma once
// Candidate selection: selects the candidate of each convolution and direction. Without a
// selection of the caller it is the static one, the first of ListConvCandidates; a search measures
// the candidates on this machine (conv_trial.h). Nothing is remembered: Frozen gives the measured
// selection as text, and a later tuner made from it selects the same candidates.
//
// Ownership: refers to the engine. Thread safety: one thread.

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "workers/native/conv/conv_candidate.h"

namespace tench::native {

// "KEY=CANDIDATE;KEY=CANDIDATE": candidates by direction and shape.
using ConvSelection = std::map<std::string, std::string>;
Result<ConvSelection> ParseConvSelection(std::string_view text);
std::string PrintConvSelection(const ConvSelection& selection);

enum class TuneMode {
  kDefault,  // the static order: nothing is measured
  kBlocked,  // oneDNN's first implementation for blocked images: nothing is measured
  kSearch,   // measured within the budget; the static order afterwards
  kFixed,    // the given selection; the static order for all others
};

class ConvTuner {
 public:
  struct Settings {
    TuneMode mode = TuneMode::kDefault;
    int64_t budget_ns = 60'000'000'000;  // of a search
    ConvSelection selection = {};        // of kFixed
    std::string algorithm = {};          // of kDefault: the first candidate of it (AlgorithmOf)
  };

  ConvTuner(const dnnl::engine& engine, int64_t threads, Settings settings);

  // Arguments as ListConvCandidates.
  ConvCandidate Choose(const ConvShape& shape, ConvDirection direction, const Md& stored_weights);

  // For tests: selects this candidate, modulo their number, without a measurement.
  void Force(size_t candidate) { forced_ = static_cast<int64_t>(candidate); }
  int64_t forced() const { return forced_; }      // -1: none
  int64_t measured() const { return measured_; }  // number of candidates timed

  // The convolutions and directions that were chosen, and those that have the wanted algorithm.
  int64_t chosen() const { return chosen_; }
  int64_t obeyed() const { return obeyed_; }

  // An entry of the given selection that this build cannot repeat.
  const Status& problem() const { return problem_; }
  // What a search selected; empty if nothing was measured.
  const ConvSelection& selection() const { return selection_; }

 private:
  ConvCandidate Blocked(const ConvShape& shape, ConvDirection direction, const Md& stored_weights);
  // The id of the fastest candidate for `shape`, whose batch may be reduced.
  std::string Measure(const ConvShape& shape, ConvDirection direction, const Md& stored_weights);

  const dnnl::engine& engine_;
  const TuneMode mode_;
  const int64_t threads_, budget_ns_;
  ConvSelection selection_;
  const std::string algorithm_;
  int64_t chosen_ = 0, obeyed_ = 0;
  Status problem_ = Ok();
  int64_t forced_ = -1;
  int64_t measured_ = 0;
  int64_t spent_ns_ = 0;
};

}  // namespace tench::native
