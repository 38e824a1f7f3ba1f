// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two sides, A and B, cell by cell. Cells that agree in everything but the compared axes
// form pairs. A pair has the ratio of times per image (B over A: above 1, B is slower), its 95 %
// interval and a verdict on B, Holm-corrected over all pairs. Input is runs in any order.
//
// Invariants:
//  - Networks with different fingerprints form a pair only if networks are the compared axis.
//  - A cell that ran on one side and failed on the other is a pair without rounds, and
//    `ambiguous`.
// Thread safety: no shared state; a builder belongs to one thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/round_time.h"
#include "report/run_selector.h"

namespace tench {

struct CompareOptions {
  // The axes in which A and B differ: axis names, "option.NAME", kMachineAxis, kVersionAxis. The
  // version includes the build, the worker its version and options, the machine the version.
  std::set<std::string> axes;
  PairingRule rule = {};
};

struct ComparedCell {
  Cell cell;
  std::string cell_id, worker_version, build, machine, machine_id, fingerprint;
  int64_t rules = kRules;
  Role role = Role::kFramework;
  int64_t runs_ok = 0, runs_failed = 0;
  std::string failure;           // "crashed: reason" of the newest run that failed
  std::vector<RoundTime> times;  // counted attempts only
  // Per image, over the paired rounds, or over all without one; 0 if there is none. The quotient of
  // a pair's compared times is its ratio.
  double compared_ns = 0;
  double median_ns = 0;  // the median over rounds of each run's median step
};

struct CellPair {
  ComparedCell a, b;
  bool interleaved = true;
  bool turns = false;  // paired by slices
  std::vector<RoundPair> rounds;
  int64_t dropped = 0;  // rounds left out, because a run was disturbed
  RatioTest test, medians;
  double corrected_p = 1;
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
  std::string reason;  // why it is ambiguous; otherwise empty
};

struct Comparison {
  double margin = kDefaultMargin;
  StepTime time = StepTime::kShortest;
  std::set<std::string> axes;
  std::vector<CellPair> pairs;               // ordered by A's cells
  std::vector<ComparedCell> only_a, only_b;  // without a partner
  // The noise sentinel's time around B's runs over its time around A's runs. Only within one
  // machine, and if both sides have readings.
  std::optional<double> sentinel_ratio;

  int64_t Count(RatioVerdict verdict) const;
  bool interleaved() const;  // true if all pairs are interleaved
};

enum class Side { kA, kB };

class ComparisonBuilder {
 public:
  explicit ComparisonBuilder(CompareOptions options);
  ComparisonBuilder(ComparisonBuilder&&) noexcept;
  ~ComparisonBuilder();

  // A run of the side's store, compared or not: all runs of a study contribute to its noise, and
  // the cells that a ranking shows together to the stretches of their steps.
  void Observe(Side side, const RunRecord& run);
  // The same run may be added to both sides; it is never paired with itself.
  void Add(Side side, const RunRecord& run);
  Comparison Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
