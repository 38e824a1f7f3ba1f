// SPDX-License-Identifier: Apache-2.0
#pragma once
// The profiles of a results file, for the charts that explain differences.
// Thread safety: belongs to one thread; CellProfile is passive.

#include <string>
#include <vector>

#include "report/anonymous.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {

// The newest profiled run of a cell on a machine.
struct CellProfile {
  std::string group;   // profiles of one group can be aligned: the machine, and the cell without
                       // its worker
  std::string title;   // "alexnet on imagenet, batch 16, train, 2 threads"
  std::string series;  // the worker, with its options
  std::string cell_id;
  Census census;
  double step_ns = 0;  // mean of the timed steps of that run
};

// Profiles of any study and of runs without one, in the order of their cells' first profiles.
// `names` may be null.
Result<std::vector<CellProfile>> ReadProfiles(Store& store, const RunSelector& only,
                                              Anonymizer* names);

}  // namespace tench
