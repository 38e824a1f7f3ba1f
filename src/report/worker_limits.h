// SPDX-License-Identifier: Apache-2.0
#pragma once
// What workers cannot use of their frameworks, to be shown next to their numbers: the fact
// `cannot_use` of a worker's description (docs/protocol.md).
//
// Thread safety: none.

#include <map>
#include <string>

#include "store/record.h"

namespace tench {

class WorkerLimits {
 public:
  void Add(const RunRecord& run);
  // By worker, without its version; only workers that state a limit.
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace tench
