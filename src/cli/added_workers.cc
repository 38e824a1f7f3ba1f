// SPDX-License-Identifier: Apache-2.0
#include "cli/added_workers.h"

#include <algorithm>

namespace tench {

void AddWorkers(const std::vector<std::string>& names, Suite& suite) {
  for (Block& block : suite.blocks) {
    for (AxisList& list : block.axes) {
      if (list.name != Axes()[kAxisWorker].name || list.values.size() < 2) continue;
      for (const std::string& name : names) {
        if (std::ranges::find(list.values, name) != list.values.end()) continue;
        list.values.push_back(name);
        list.places.push_back(block.place);
      }
    }
  }
}

}  // namespace tench
