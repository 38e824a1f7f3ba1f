// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags of a run's budget (how long it measures) and limits (timeout, memory, swap). They have
// the names of the keys in suites.

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
  std::string steps_, epochs_, test_data_, eval_every_, until_, warmup_, min_steps_, min_time_,
      interval_, time_limit_;
  std::string timeout_, memory_limit_, swap_, tune_budget_;
};

}  // namespace tench
