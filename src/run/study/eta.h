// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimates the remaining time of a study, as the sum of four parts:
//   - runs: a cell's mean so far. A cell that never ran is estimated from similar cells: the mean
//     of its worker times the mean of its work (network, phase, batch, …) over the mean of all.
//   - overhead: the mean time between two runs, for the sentinel, the store and the clean-up.
//   - parity: cells whose parity is not checked yet, by the mean of their network and phase.
//   - repeats: as many as NoiseWatch::ExpectedRepeatShare expects.
// The overhead includes everything that is not known otherwise. Pure.
//
// Thread safety: none. RemainingNs costs one pass over the cells after a change, otherwise nothing.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/matrix.h"

namespace tench {

class Eta {
 public:
  explicit Eta(std::span<const PlannedCell> cells);

  // One more run of `cell` remains.
  void AddRemaining(size_t cell);
  // One run of `cell` no longer remains.
  void RemoveRemaining(size_t cell);
  // A run of `cell` took `wall_ns`.
  void Learn(size_t cell, double wall_ns);
  // The time of a finished run outside of the run itself and of its parity check.
  void LearnOverhead(double ns);

  // The parity of `cell` will be checked before its next run; it was checked in `ns`.
  void ExpectParity(size_t cell);
  void LearnParity(size_t cell, double ns);

  // Further runs that repeat disturbed ones, not yet added as remaining.
  void ExpectRepeats(double runs);

  double RemainingNs() const;  // 0 = unknown

 private:
  struct Mean {
    int64_t count = 0;
    double sum = 0;
    void Add(double value) { ++count, sum += value; }
    double value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  };
  struct CellTime {
    size_t worker = 0, work = 0, family = 0;  // groups of similar cells
    int64_t remaining = 0;
    bool parity_expected = false;
    Mean run_ns;
  };
  double Compute() const;

  std::vector<CellTime> cells_;
  size_t groups_ = 0;
  std::vector<Mean> parity_ns_;  // by family
  Mean overhead_ns_, all_parity_ns_;
  double repeats_ = 0;
  mutable bool settled_ = false;
  mutable double remaining_ns_ = 0;
};

}  // namespace tench
