// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of workers in tests, and what tests know of single workers.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"

namespace tench {

// As part of a test's name, where GoogleTest allows letters, digits and underscores only:
// "torch_python".
inline std::string TestName(std::string worker) {
  std::replace(worker.begin(), worker.end(), '-', '_');
  return worker;
}

// Whether a worker is one on the Python kit. These share the protocol's implementation, and a
// process of theirs takes a second to load its framework, so tests start fewer of them.
inline bool IsOnKit(const std::string& worker) {
  return std::filesystem::exists(TENCH_BIN_DIR "/../share/tench/python-workers/" + worker + ".py");
}

// Why a worker on the kit is not tested; "" for those that are. One new and one old framework are
// tested by default, wherever others are set up as well: each takes minutes.
inline std::string WhyNotTested(const std::string& worker) {
  const char* chosen = std::getenv("TENCH_TEST_WORKERS");
  const std::vector<std::string> names =
      Split(chosen != nullptr && *chosen != '\0' ? chosen : "jax,tensorflow1", ',');
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!IsOnKit(worker) || has("all") || has(worker)) return "";
  return "make test WORKERS=all, or TENCH_TEST_WORKERS=" + worker + ", tests " + worker;
}

// For workers' processes in the contract tests: XLA compiles without LLVM's optimizer, which is
// half of the time of jax's tests. Not for parity, since scalar sums round more than vectorized
// ones.
inline constexpr const char* kXlaFlags = "XLA_FLAGS";
inline constexpr const char* kQuickXla = "--xla_backend_optimization_level=0";

}  // namespace tench
