// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags that say how long a run measures and what it may take. The same words as in suites.

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "plan/suite.h"
#include "record/budget.h"

namespace tench {

class MeasureFlags {
 public:
  void AddTo(CLI::App& app);
  Result<Budget> ToBudget() const;
  Result<Limits> ToLimits() const;

 private:
  std::string steps_, epochs_, warmup_, min_steps_, min_time_, interval_, time_limit_;
  std::string timeout_, memory_limit_, swap_;
};

}  // namespace tench
