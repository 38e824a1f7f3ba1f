// SPDX-License-Identifier: Apache-2.0
#pragma once
// Candidate selection: selects the candidate of each convolution and direction, by measurement on
// this machine (conv_trial.h) or without. Measured selections are stored in a TunerCache, so that
// later builds compute the same bits.
//
// Ownership: owns the cache; refers to the engine. Thread safety: one thread.

#include <map>
#include <string>

#include "workers/native/conv/conv_candidate.h"
#include "workers/native/conv/tuner_cache.h"

namespace tench::native {

enum class TuneMode {
  kOff,    // the default candidate of the blocked family: oneDNN's own choice
  kCache,  // the cache's entry; measured if there is none
  kFull,   // measured, whatever the cache has
};

class ConvTuner {
 public:
  ConvTuner(const dnnl::engine& engine, TuneMode mode, int64_t threads, TunerCache cache);

  // Arguments as ListConvCandidates.
  ConvCandidate Choose(const ConvShape& shape, ConvDirection direction, const Md& stored_weights);

  // For tests: selects this candidate, modulo their number, without a measurement.
  void Force(size_t candidate) { forced_ = static_cast<int64_t>(candidate); }
  int64_t forced() const { return forced_; }  // -1: none
  Status Save() { return cache_.Save(); }
  int64_t measured() const { return measured_; }  // number of candidates timed

 private:
  // The id of the fastest candidate for `shape`, whose batch may be reduced.
  std::string Measure(const ConvShape& shape, ConvDirection direction, const Md& stored_weights,
                      const std::string& key);

  const dnnl::engine& engine_;
  dnnl::stream stream_;
  TuneMode mode_;
  int64_t threads_;
  TunerCache cache_;
  std::map<std::string, std::string> fresh_;  // measured by this object
  int64_t forced_ = -1;
  int64_t measured_ = 0;
  int64_t spent_ns_ = 0;
  int disturbed_ = 0;  // trials that preemption disturbed
};

}  // namespace tench::native
