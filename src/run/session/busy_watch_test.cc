// SPDX-License-Identifier: Apache-2.0
#include "run/session/busy_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/test_run.h"

namespace tench::busy_watch_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BusyEvidence Quiet() {
  BusyEvidence evidence;
  evidence.cpus = 2, evidence.threads = 2;
  evidence.other_cpus = 0.05, evidence.steal_share = 0.001, evidence.sentinel_ratio = 1.05;
  evidence.cpu_per_wall = 1.95;
  return evidence;
}

TEST(BusyWatchTest, AQuietMachineGivesNoWarning) {
  EXPECT_THAT(BusyWarnings(Quiet()), ElementsAre());
  EXPECT_THAT(BusyWarnings({}), ElementsAre());
}

TEST(BusyWatchTest, EachSignIsNamed) {
  BusyEvidence evidence = Quiet();
  evidence.other_cpus = 1.34;
  EXPECT_THAT(BusyWarnings(evidence), ElementsAre("other processes used 1.3 of 2 CPUs"));
  evidence = Quiet();
  evidence.steal_share = 0.25;
  EXPECT_THAT(BusyWarnings(evidence), ElementsAre(HasSubstr("gave 25 % of the CPU time")));
  evidence = Quiet();
  evidence.sentinel_ratio = 1.8;
  EXPECT_THAT(BusyWarnings(evidence), ElementsAre("the noise sentinel varied by 1.80×"));
  evidence = Quiet();
  evidence.cpu_per_wall = 0.9;
  EXPECT_THAT(BusyWarnings(evidence),
              ElementsAre("the steps used 0.90 CPUs of 2 threads, or the worker has sequential "
                          "parts"));
  evidence.other_cpus = 1;
  EXPECT_THAT(BusyWarnings(evidence), ElementsAre("other processes used 1.0 of 2 CPUs",
                                                  "the steps used 0.90 CPUs of 2 threads"));
}

TEST(BusyWatchTest, TheReadingsAreStoredWithTheRun) {
  BusyWatch watch;
  RunRecord record = TestRun();
  record.summary = {};
  (void)watch.Finish(record);
  EXPECT_GT(record.summary.sentinel().before.compute_ns, 0);
  EXPECT_GT(record.summary.sentinel().after.memory_ns, 0);
}

}  // namespace
}  // namespace tench::busy_watch_test
