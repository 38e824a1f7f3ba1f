// SPDX-License-Identifier: Apache-2.0
#include "run/study/eta.h"

#include <algorithm>

namespace tench {

void Eta::AddRemaining(size_t cell) {
  CellTime& time = cells_[cell];
  ++time.remaining;
  if (time.runs > 0) {
    known_ns_ += time.mean_ns;
  } else {
    ++unknown_remaining_;
  }
}

void Eta::RemoveRemaining(size_t cell) {
  CellTime& time = cells_[cell];
  --time.remaining;
  if (time.runs > 0) {
    known_ns_ -= time.mean_ns;
  } else {
    --unknown_remaining_;
  }
}

void Eta::Learn(size_t cell, double wall_ns) {
  CellTime& time = cells_[cell];
  const auto remaining = static_cast<double>(time.remaining);
  if (time.runs == 0) {
    unknown_remaining_ -= time.remaining;
    ++known_cells_;
  }
  known_ns_ -= remaining * time.mean_ns;
  means_ns_ -= time.mean_ns;
  ++time.runs;
  time.mean_ns += (wall_ns - time.mean_ns) / static_cast<double>(time.runs);
  known_ns_ += remaining * time.mean_ns;
  means_ns_ += time.mean_ns;
}

double Eta::RemainingNs() const {
  if (known_cells_ == 0) return 0;
  const double mean_ns = means_ns_ / static_cast<double>(known_cells_);
  return std::max(0.0, known_ns_ + static_cast<double>(unknown_remaining_) * mean_ns);
}

}  // namespace tench
