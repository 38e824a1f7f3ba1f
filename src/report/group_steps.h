// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lengths of the steps of all cells of compared groups, whether or not a table shows them. They
// determine the stretches by which the cells of a group are compared (stats/stretch.h). With them a
// pair of cells has one ratio in every table and command, whichever other cells are selected.
//
// A group is named by a key of the caller's choice. Its cells agree in everything but what the
// caller compares, and in the network's fingerprint where it is known.
// Thread safety: a value type without shared state.

#include <map>
#include <string>
#include <vector>

#include "report/round_time.h"

namespace tench {

class GroupSteps {
 public:
  // Only `ok` runs with a time count; of a round, its last attempt.
  void Add(const std::string& group, const RunRecord& run);
  bool empty() const { return groups_.empty(); }

  // One entry per cell of the group, in no particular order.
  std::vector<GroupStep> Of(const std::string& group, const std::string& fingerprint) const;

 private:
  struct CellSteps {
    std::string fingerprint;
    bool is_scale = false;
    std::vector<RoundTime> times;  // of all attempts
  };
  // By machine, cell id, build and rules within a group.
  std::map<std::string, std::map<std::string, CellSteps>> groups_;
};

}  // namespace tench
