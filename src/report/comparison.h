// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two sides, A and B, cell by cell: cells that agree in everything but what is compared form pairs, each with the ratio of their times per image (B
// over A: above 1, B is slower), its 95 % interval and a verdict about B, corrected over all pairs by Holm. Networks of different fingerprints never
// meet unless networks are what is compared. A cell that ran on one side and failed on the other is a pair without rounds, and `ambiguous`. Pure: the
// runs come from anywhere, in any order.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "report/round_time.h"
#include "report/summary.h"

namespace tench {

// What may be compared besides the axes and "option.NAME".
inline constexpr const char* kMachineAxis = "machine";
inline constexpr const char* kVersionAxis = "version";

struct CompareOptions {
  // What A and B differ in: names of axes, "option.NAME", kMachineAxis, kVersionAxis. With the worker, its version and options differ too. Empty: two
  // studies of the same cells; versions may differ.
  std::set<std::string> axes;
  Source source = Source::kSameStore;
  double margin = kDefaultMargin;
};

struct ComparedCell {
  Cell cell;
  std::string cell_id, worker_version, machine, machine_id, fingerprint;
  int64_t runs_ok = 0, runs_failed = 0;
  std::string failure;             // "crashed: reason" of the newest run that failed
  std::vector<RoundTime> times;    // that count
  double image_ns = 0;             // median of them; 0 without any
};

struct CellPair {
  ComparedCell a, b;
  bool interleaved = true;
  std::vector<RoundPair> rounds;
  RatioTest test;
  double corrected_p = 1;
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
  std::string reason;              // why it is ambiguous; otherwise empty
};

struct Comparison {
  double margin = kDefaultMargin;
  std::set<std::string> axes;
  std::vector<CellPair> pairs;     // ordered by A's cells
  std::vector<ComparedCell> only_a, only_b;   // without a partner

  int64_t Count(RatioVerdict verdict) const;
  bool interleaved() const;        // all pairs were
};

enum class Side { kA, kB };

class ComparisonBuilder {
 public:
  explicit ComparisonBuilder(CompareOptions options);
  ComparisonBuilder(ComparisonBuilder&&) noexcept;
  ~ComparisonBuilder();

  // The same run may be on both sides; it is never paired with itself.
  void Add(Side side, const RunRecord& run);
  Comparison Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
