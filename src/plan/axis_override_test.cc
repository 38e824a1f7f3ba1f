// SPDX-License-Identifier: Apache-2.0
#include "plan/axis_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/matrix.h"

namespace tench::axis_override_test {
namespace {

using testing::ElementsAre;

constexpr const char* kSuite =
    "worker: [native, torch]\nnetwork: lenet\nbatch: [1, 2, 4]\nlabels: 1\n"
    "include:\n  - {worker: mxnet, batch: 8}\n";

Result<std::vector<std::string>> Labels(const std::vector<std::string>& texts) {
  Suite suite = TENCH_TRY(ParseSuite(kSuite, "s.yaml"));
  TENCH_TRY(OverrideAxes(texts, suite));
  Catalog catalog;
  catalog.workers = {"native", "torch", "mxnet"};
  catalog.networks = {"lenet"};
  catalog.data_sets = {"mnist"};
  std::vector<std::string> labels;
  for (const PlannedCell& planned : TENCH_TRY(Expand(suite, catalog)))
    labels.push_back(planned.cell.Label());
  return labels;
}

TEST(AxisOverrideTest, ReplacesTheValuesOfEveryBlockAndOfIncludedCells) {
  EXPECT_THAT(
      *Labels({"batch=32", "labels=0"}),
      ElementsAre("worker=native network=lenet batch=32", "worker=torch network=lenet batch=32",
                  "worker=mxnet network=lenet batch=32"));
}

TEST(AxisOverrideTest, AddsAxesAndOptionsThatTheSuiteDoesNotName) {
  EXPECT_THAT(*Labels({"worker=native", "batch=16", "data=mnist", "option.layout=nhwc", "labels=0",
                       "seed=1", "seed=2"}),
              ElementsAre("worker=native network=lenet data=mnist option.layout=nhwc",
                          "worker=native network=lenet data=mnist seed=2 option.layout=nhwc"));
}

TEST(AxisOverrideTest, MistakesNameTheText) {
  EXPECT_EQ(Labels({"batch"}).error().message, "'batch' is not of the form AXIS=VALUE");
  EXPECT_EQ(Labels({"bach=1"}).error().message, "unknown axis 'bach'; did you mean 'batch'?");
  EXPECT_EQ(Labels({"batch=0"}).error().message, "batch: '0' is not an integer from 1 to 1048576");
}

}  // namespace
}  // namespace tench::axis_override_test
