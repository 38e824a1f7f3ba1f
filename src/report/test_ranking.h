// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs for the report's tests, with round numbers so that expected texts can be checked by hand.
// Not part of the product.

#include <string>

#include "report/summary.h"
#include "store/test_run.h"

namespace tench {

inline RunRecord TimedRun(const std::string& worker, double step_ns, int64_t batch = 64) {
  RunRecord run = TestRun(0, 0, TestCell(worker, "lenet", batch));
  run.reason = "";
  run.flags.clear();
  run.settings.clear();
  run.summary.first_step_ns = run.summary.tune_ns = run.summary.tune_pays_steps = std::nullopt;
  run.summary.step_ns_median = run.summary.step_ns_min = step_ns;
  run.summary.step_ns_low = step_ns * 0.99;
  run.summary.step_ns_high = step_ns * 1.01;
  return run;
}

// A run that ended before the worker's hello.
inline RunRecord FailedRun(const std::string& worker, Outcome outcome, const std::string& reason,
                           int64_t batch = 64) {
  RunRecord run = TimedRun(worker, 0, batch);
  run.outcome = outcome;
  run.reason = reason;
  run.worker_version = run.fingerprint = "";
  if (outcome == Outcome::kUnsupported) run.build = "";  // not installed
  run.summary = RunSummary();
  return run;
}

// Two ranked cells, one with some failed runs and one with only failed runs.
inline Ranking SmallRanking(std::optional<size_t> by = std::nullopt) {
  RankingBuilder builder(by);
  builder.Add(TimedRun("reference", 640e6));
  RunRecord unverified = TimedRun("native", 6.4e6);
  unverified.flags = {"unverified"};
  builder.Add(unverified);
  builder.Add(unverified);
  builder.Add(FailedRun("native", Outcome::kTimeout, "no result after 10 s"));
  builder.Add(
      FailedRun("torch", Outcome::kUnsupported, "not installed: pip install \"torch\" <2>"));
  Ranking ranking = std::move(builder).Finish();
  StudyRecord study = TestStudy();
  study.id = 1;
  ranking.studies = {study};
  return ranking;
}

}  // namespace tench
