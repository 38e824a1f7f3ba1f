// SPDX-License-Identifier: Apache-2.0
#include "worker/op_parity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tench::op_parity_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AdapterRun SmallRun() {
  AdapterRun run;
  run.losses = {2, 1};
  run.parameters = {{"w", {3, 4}}};
  run.state = {{"w.momentum", {1, 0}}};
  run.gradients = {{"w", {0, 2}}};
  run.outputs = {{"fc", {1, 1}}};
  return run;
}

TEST(OpParityTest, EqualRunsHaveNoDifferences) {
  EXPECT_THAT(Differences(SmallRun(), SmallRun(), {}), IsEmpty());
}

TEST(OpParityTest, NamesEveryTensorBeyondTheTolerance) {
  AdapterRun got = SmallRun();
  got.parameters["w"] = {3, 4.01f};  // 0.01 over a norm of 5
  EXPECT_THAT(Differences(SmallRun(), got, {2e-3, 1e-6}),
              ElementsAre(HasSubstr("parameter w: 2.00e-03")));
  EXPECT_THAT(Differences(SmallRun(), got, {3e-3, 1e-6}), IsEmpty());
  got = SmallRun();
  got.gradients["w"][0] = 1;
  got.outputs["fc"][1] = 2;
  got.state["w.momentum"][1] = 1;
  EXPECT_THAT(
      Differences(SmallRun(), got, {}),
      ElementsAre(HasSubstr("output fc"), HasSubstr("gradient w"), HasSubstr("state w.momentum")));
}

TEST(OpParityTest, NamesLossesMissingTensorsAndNaN) {
  AdapterRun got = SmallRun();
  got.losses[1] = 1.1;
  got.outputs.clear();
  got.gradients["w"][0] = std::numeric_limits<float>::quiet_NaN();
  got.parameters["v"] = {1};
  EXPECT_THAT(Differences(SmallRun(), got, {}),
              ElementsAre(HasSubstr("loss of step 1: 1.1 instead of 1"), "output fc: missing",
                          HasSubstr("gradient w"), "parameter v: unknown"));
  got = SmallRun();
  got.losses.pop_back();
  EXPECT_THAT(Differences(SmallRun(), got, {}), ElementsAre("1 losses instead of 2"));
}

}  // namespace
}  // namespace tench::op_parity_test
