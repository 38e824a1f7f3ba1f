// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimates the remaining time of a study. A remaining run takes as long as its cell took before; a
// cell that never ran takes the mean of the known ones. Pure; constant time per call.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tench {

class Eta {
 public:
  explicit Eta(size_t cells) : cells_(cells) {}

  // One more run of `cell` lies ahead.
  void AddRemaining(size_t cell);
  // It is no longer ahead.
  void RemoveRemaining(size_t cell);
  // A run of `cell` took this long.
  void Learn(size_t cell, double wall_ns);

  double RemainingNs() const;  // 0 = unknown yet

 private:
  struct CellTime {
    int64_t remaining = 0, runs = 0;
    double mean_ns = 0;
  };

  std::vector<CellTime> cells_;
  double known_ns_ = 0;  // Σ remaining · mean over cells with a mean
  double means_ns_ = 0;  // Σ mean over them
  int64_t known_cells_ = 0;
  int64_t unknown_remaining_ = 0;
};

}  // namespace tench
