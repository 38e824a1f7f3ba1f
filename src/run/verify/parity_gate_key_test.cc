// SPDX-License-Identifier: Apache-2.0
// An axis in the parity key must change the trials; otherwise the key promises a check that was not
// made. An axis that changes the trials must be in the key; otherwise a stale result is reused.
#include <gtest/gtest.h>

#include "base/json.h"
#include "run/session/job_axes.h"
#include "run/session/test_axis.h"
#include "run/verify/parity_gate.h"

namespace tench {
namespace {

std::string TrialText(const Cell& cell) {
  const auto subject = ParitySubject(cell, {});
  EXPECT_TRUE(subject.ok()) << subject.error().message;
  const auto trial = MakeTrial(*subject, TrialKind::kTrain);
  EXPECT_TRUE(trial.ok()) << trial.error().message;
  Job job = trial->job;
  job.threads = 1;  // by the machine's CPUs
  return PrintJson(ToJson(job));
}

TEST(ParityGateKeyTest, ExactlyTheAxesOfTheKeyChangeTheTrials) {
  for (const AxisUse& use : AxisUses()) {
    if (use.parity == ParityUse::kIdentity) continue;
    EXPECT_EQ(TrialText(CellWithout(use.axis)) != TrialText(CellWithAnother(use.axis)),
              use.parity == ParityUse::kKey)
        << Axes()[use.axis].name;
  }
}

TEST(ParityGateKeyTest, OptionsChangeTheTrials) {
  Cell cell = CellWithout(kAxisBatch), other = cell;
  ASSERT_TRUE(other.Set("option.layout", "nchw"));
  EXPECT_NE(TrialText(cell), TrialText(other));
}

}  // namespace
}  // namespace tench
