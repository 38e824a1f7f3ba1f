// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's name as part of a test's name, where GoogleTest allows letters, digits and underscores
// only: "torch_python".

#include <algorithm>
#include <string>

namespace tench {

inline std::string TestName(std::string worker) {
  std::replace(worker.begin(), worker.end(), '-', '_');
  return worker;
}

}  // namespace tench
