// SPDX-License-Identifier: Apache-2.0
#include "run/study/eta.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/text.h"

namespace tench {
namespace {

// The work of the cell: all axes but the worker.
std::string WorkOf(Cell cell) {
  cell.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
  cell.options.clear();
  return cell.Id();
}

std::string FamilyOf(const Cell& cell) {
  return fmt::format("family {} {} {}", cell.Text(kAxisNetwork), cell.Text(kAxisData),
                     Name(cell.phase()));
}

}  // namespace

Eta::Eta(std::span<const PlannedCell> cells) {
  std::unordered_map<std::string, size_t> groups;
  const auto group = [&](const std::string& name) {
    return groups.try_emplace(name, groups.size()).first->second;
  };
  for (const PlannedCell& planned : cells) {
    CellTime time;
    time.worker = group("worker " + planned.cell.Text(kAxisWorker) + planned.cell.Text(kAxisTuned));
    time.work = group(WorkOf(planned.cell));
    time.family = group(FamilyOf(planned.cell));
    cells_.push_back(time);
  }
  groups_ = groups.size();
  parity_ns_.resize(groups_);
}

void Eta::AddRemaining(size_t cell) {
  ++cells_[cell].remaining;
  settled_ = false;
}

void Eta::RemoveRemaining(size_t cell) {
  --cells_[cell].remaining;
  settled_ = false;
}

void Eta::Learn(size_t cell, double wall_ns) {
  cells_[cell].run_ns.Add(wall_ns);
  settled_ = false;
}

void Eta::LearnOverhead(double ns) {
  overhead_ns_.Add(std::max(0.0, ns));
  settled_ = false;
}

void Eta::ExpectParity(size_t cell) {
  cells_[cell].parity_expected = true;
  settled_ = false;
}

void Eta::LearnParity(size_t cell, double ns) {
  if (!cells_[cell].parity_expected) return;
  cells_[cell].parity_expected = false;
  parity_ns_[cells_[cell].family].Add(ns);
  all_parity_ns_.Add(ns);
  settled_ = false;
}

void Eta::ExpectRepeats(double runs) {
  if (repeats_ == runs) return;
  repeats_ = runs;
  settled_ = false;
}

double Eta::RemainingNs() const {
  if (!settled_) remaining_ns_ = Compute();
  settled_ = true;
  return remaining_ns_;
}

double Eta::Compute() const {
  std::vector<Mean> known_ns(groups_);
  Mean all_ns;
  for (const CellTime& cell : cells_) {
    if (cell.run_ns.count == 0) continue;
    for (const size_t group : {cell.worker, cell.work, cell.family})
      known_ns[group].Add(cell.run_ns.value());
    all_ns.Add(cell.run_ns.value());
  }
  if (all_ns.count == 0) return 0;
  const double mean_ns = all_ns.value();
  double sum_ns = 0, runs = 0;
  for (const CellTime& cell : cells_) {
    if (cell.remaining <= 0) continue;
    double run_ns = cell.run_ns.value();
    if (cell.run_ns.count == 0) {
      const Mean& worker = known_ns[cell.worker];
      const Mean& work = known_ns[known_ns[cell.work].count > 0 ? cell.work : cell.family];
      run_ns = (worker.count > 0 ? worker.value() : mean_ns) *
               (work.count > 0 && mean_ns > 0 ? work.value() / mean_ns : 1);
    }
    sum_ns += static_cast<double>(cell.remaining) * run_ns;
    runs += static_cast<double>(cell.remaining);
    if (cell.parity_expected) {
      const Mean& similar = parity_ns_[cell.family];
      sum_ns += similar.count > 0 ? similar.value() : all_parity_ns_.value();
    }
  }
  const double run_ns = runs > 0 ? sum_ns / runs : mean_ns;
  return sum_ns + repeats_ * run_ns + (runs + repeats_) * overhead_ns_.value();
}

}  // namespace tench
