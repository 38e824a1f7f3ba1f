// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two sides, A and B, cell by cell: cells that agree in everything but what is compared form pairs,
// each with the ratio of their times per image (B over A: above 1, B is slower), its 95 % interval
// and a verdict about B, corrected over all pairs by Holm. Networks of different fingerprints never
// meet unless networks are what is compared. A cell that ran on one side and failed on the other is
// a pair without rounds, and `ambiguous`. Pure: the runs come from anywhere, in any order.

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
  // What A and B differ in: names of axes, "option.NAME", kMachineAxis, kVersionAxis. With the
  // worker, its version and options differ too; with the machine, the version.
  std::set<std::string> axes;
  PairingRule rule = {};
};

struct ComparedCell {
  Cell cell;
  std::string cell_id, worker_version, machine, machine_id, fingerprint;
  int64_t runs_ok = 0, runs_failed = 0;
  std::string failure;           // "crashed: reason" of the newest run that failed
  std::vector<RoundTime> times;  // that count
  double image_ns = 0;           // median of them; 0 without any
};

struct CellPair {
  ComparedCell a, b;
  bool interleaved = true;
  std::vector<RoundPair> rounds;
  RatioTest test;
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
  // How long the noise sentinel took around B's runs over A's; of one machine only, where both were
  // watched.
  std::optional<double> sentinel_ratio;

  int64_t Count(RatioVerdict verdict) const;
  bool interleaved() const;  // all pairs were
};

enum class Side { kA, kB };

class ComparisonBuilder {
 public:
  explicit ComparisonBuilder(CompareOptions options);
  ComparisonBuilder(ComparisonBuilder&&) noexcept;
  ~ComparisonBuilder();

  // A run of the side's store, compared or not: a study's noise is measured by all of its runs.
  // Before Finish.
  void Observe(Side side, const RunRecord& run);
  // The same run may be on both sides; it is never paired with itself.
  void Add(Side side, const RunRecord& run);
  Comparison Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
