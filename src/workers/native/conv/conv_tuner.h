// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses the kernel of each convolution and direction by measurement on this machine, with
// everything that the kernel makes necessary (conv_trial.h). The fastest is remembered in a file.

#include <map>
#include <string>

#include "workers/native/conv/conv_candidate.h"
#include "workers/native/conv/tuner_cache.h"

namespace tench::native {

enum class TuneMode {
  kOff,    // oneDNN's first choice
  kCache,  // what the cache says; measured where it says nothing
  kFull,   // measured anew
};

class ConvTuner {
 public:
  ConvTuner(const dnnl::engine& engine, TuneMode mode, int64_t threads, TunerCache cache);

  // As ListConvCandidates; the winner.
  ConvCandidate Choose(const ConvShape& shape, ConvDirection direction, const Md& home_weights);

  // Every choice is this candidate (modulo how many there are), whatever its speed: for tests of
  // each of them.
  void Force(size_t candidate) { forced_ = static_cast<int64_t>(candidate); }
  int64_t forced() const { return forced_; }  // -1: none
  Status Save() { return cache_.Save(); }
  int64_t measured() const { return measured_; }  // candidates that were run

 private:
  // The winner's id among the kernels for `shape`, which may be a part of the batch.
  std::string Measure(const ConvShape& shape, ConvDirection direction, const Md& home_weights,
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
  int disturbed_ = 0;  // choices that other work on the machine got in the way of
};

}  // namespace tench::native
