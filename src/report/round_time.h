// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's time in one round of one study, and the pairing of two cells' rounds. Cells of one study meet within each round, where the machine was in
// the same mood; cells that share no study meet by the number of the round, and `interleaved` says that they were not measured side by side.
// Single runs (study 0) have no round and pair with nothing. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "measure/paired.h"

namespace tench {

struct RoundTime {
  int64_t study = 0, round = 0, attempt = 0;
  int64_t run = 0;       // its id in the store
  double image_ns = 0;
};

// Of several attempts at one round the last counts. Ordered by study and round; single runs are all kept.
std::vector<RoundTime> CountedTimes(std::vector<RoundTime> times);

struct RoundPair {
  RoundTime a, b;
  bool outlier = false;

  double ratio() const { return b.image_ns / a.image_ns; }
};

struct Pairing {
  bool interleaved = true;
  std::vector<RoundPair> rounds;
  RatioTest test;
};

enum class Source { kSameStore, kOtherStore };

// Both are CountedTimes. Of another store, equal numbers of studies mean nothing.
Pairing PairRounds(std::span<const RoundTime> a, std::span<const RoundTime> b, Source source = Source::kSameStore, double margin = kDefaultMargin);

}  // namespace tench
