// SPDX-License-Identifier: Apache-2.0
// An axis in the parity key must change the trials; otherwise the key promises a check that was not
// made. An axis that changes the trials must be in the key; otherwise a stale result is reused.
#include <gtest/gtest.h>

#include "base/json.h"
#include "run/session/job_axes.h"
#include "run/session/test_axis.h"
#include "run/verify/parity_gate.h"

namespace tench::parity_gate_key_test {
namespace {

std::string Text(const Result<Trial>& trial) {
  EXPECT_TRUE(trial.ok()) << trial.error().message;
  return PrintJson(ToJson(trial->job)) + PrintJson(Json(trial->job.environment));
}

Subject SubjectOf(const Cell& cell) {
  auto subject = ParitySubject(cell, {});
  EXPECT_TRUE(subject.ok()) << subject.error().message;
  return *subject;
}

std::string TrialText(const Cell& cell) {
  Subject subject = SubjectOf(cell);
  subject.job.threads = 1;  // by the machine's CPUs; they only divide the work of network trials
  return Text(MakeTrial(subject, TrialKind::kTrain)) + Text(MakeTrial(subject, TrialKind::kSteady));
}

std::string TimedText(const Cell& cell) {
  Subject subject = SubjectOf(cell);
  subject.job.threads = cell.Integer(kAxisThreads) + 1;  // as if the machine had as many CPUs
  return Text(MakeTimedTrial(subject, {}, false));
}

TEST(ParityGateKeyTest, ExactlyTheAxesOfTheKeyChangeTheTrials) {
  for (const AxisUse& use : AxisUses()) {
    if (use.parity == ParityUse::kIdentity) continue;
    const Cell cell = CellWithout(use.axis), other = CellWithAnother(use.axis);
    const bool key = use.parity == ParityUse::kKey || use.parity == ParityUse::kLaterKey,
               timed = key || use.parity == ParityUse::kTimedKey;
    EXPECT_EQ(TrialText(cell) != TrialText(other), key) << Axes()[use.axis].name;
    EXPECT_EQ(TimedText(cell) != TimedText(other), timed) << Axes()[use.axis].name;
  }
}

TEST(ParityGateKeyTest, OptionsChangeTheTrials) {
  Cell cell = CellWithout(kAxisBatch), other = cell;
  ASSERT_TRUE(other.Set("option.layout", "nchw"));
  EXPECT_NE(TrialText(cell), TrialText(other));
  EXPECT_NE(TimedText(cell), TimedText(other));
}

}  // namespace
}  // namespace tench::parity_gate_key_test
