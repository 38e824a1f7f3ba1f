// SPDX-License-Identifier: Apache-2.0
#include "axis/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tench::axis_test {
namespace {

using testing::ElementsAreArray;

const Axis& Row(AxisIndex index) { return Axes()[index]; }

TEST(AxisTest, EveryIndexNamesItsRow) {
  std::vector<std::string> names;
  for (const Axis& axis : Axes()) names.push_back(axis.name);
  const std::vector<std::string> expected = {
      "worker",       "network",  "data",         "device",    "threads", "batch",
      "precision",    "phase",    "input",        "images",    "labels",  "length",
      "lr",           "momentum", "weight_decay", "seed",      "tuned",   "placement",
      "data_threads", "prefetch", "optimizer",    "lr_policy", "isa"};
  ASSERT_EQ(Axes().size(), static_cast<size_t>(kAxisCount));
  EXPECT_THAT(names, ElementsAreArray(expected));
  EXPECT_EQ(Row(kAxisWorker).name, "worker");
  EXPECT_EQ(Row(kAxisBatch).name, "batch");
  EXPECT_EQ(Row(kAxisPhase).name, "phase");
  EXPECT_EQ(Row(kAxisLr).name, "lr");
  EXPECT_EQ(Row(kAxisSeed).name, "seed");
  EXPECT_EQ(Row(kAxisTuned).name, "tuned");
  EXPECT_EQ(Row(kAxisPlacement).name, "placement");
  EXPECT_EQ(Row(kAxisDataThreads).name, "data_threads");
  EXPECT_EQ(Row(kAxisPrefetch).name, "prefetch");
  EXPECT_EQ(Row(kAxisOptimizer).name, "optimizer");
  EXPECT_EQ(Row(kAxisLrPolicy).name, "lr_policy");
  EXPECT_EQ(Row(kAxisIsa).name, "isa");
}

TEST(AxisTest, EveryDefaultIsOfItsKindAndReadsBack) {
  for (const Axis& axis : Axes()) {
    EXPECT_FALSE(axis.help.empty()) << axis.name;
    const size_t alternative = axis.kind == AxisKind::kInteger ? 1
                               : axis.kind == AxisKind::kReal  ? 2
                                                               : 0;
    EXPECT_EQ(axis.fallback.index(), alternative) << axis.name;
    const auto back = axis.Parse(axis.Print(axis.fallback));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, axis.fallback) << axis.name;
  }
}

TEST(AxisTest, BatchesOfZeroAndOfATrillionAreRefused) {
  EXPECT_EQ(Row(kAxisBatch).Parse("0").error().message,
            "batch: '0' is not an integer from 1 to 1048576");
  EXPECT_EQ(Row(kAxisBatch).Parse("1000000000000").error().message,
            "batch: '1000000000000' is not an integer from 1 to 1048576");
  for (const std::string bad : {"-1", "", "64.0", "1e3", "99999999999999999999", "six\n"})
    EXPECT_FALSE(Row(kAxisBatch).Parse(bad).ok()) << bad;
  EXPECT_EQ(std::get<int64_t>(*Row(kAxisBatch).Parse("1048576")), 1048576);
}

TEST(AxisTest, DevicesHaveOneSpellingEach) {
  const auto spelled = [](const std::string& text) {
    return std::get<std::string>(*Row(kAxisDevice).Parse(text));
  };
  EXPECT_EQ(spelled("cpu"), "cpu");
  for (const std::string text : {"gpu", "gpu:0", "cuda", "cuda:0"})
    EXPECT_EQ(spelled(text), "gpu:0") << text;
  EXPECT_EQ(spelled("cuda:12"), "gpu:12");
  for (const std::string bad :
       {"", "CPU", "cpu:0", "gpu:", "gpu:00", "gpu:-1", "gpu:x", "gpu:99999", "tpu", "cuda:0:1"})
    EXPECT_FALSE(Row(kAxisDevice).Parse(bad).ok()) << bad;
  EXPECT_EQ(Row(kAxisDevice).Parse("tpu").error().message,
            "device: 'tpu' is not cpu, gpu, gpu:N, cuda or cuda:N");
}

TEST(AxisTest, OptimizersAndPoliciesHaveOneSpellingEachAndSayWhatIsWrong) {
  EXPECT_EQ(std::get<std::string>(*Row(kAxisOptimizer).Parse("adam,momentum2=0.999,delta=1e-6")),
            "adam,delta=1e-06");
  EXPECT_EQ(std::get<std::string>(*Row(kAxisLrPolicy).Parse("step,stepsize=10,gamma=0.10")),
            "step,gamma=0.1,stepsize=10");
  EXPECT_EQ(Row(kAxisOptimizer).Parse("adm").error().message,
            "optimizer: 'adm' is not one of sgd, nesterov, adam, rmsprop, adagrad, adadelta; did "
            "you mean 'adam'?");
  EXPECT_EQ(Row(kAxisLrPolicy).Parse("step,gamma=0.1").error().message,
            "lr_policy: step needs stepsize");
}

TEST(AxisTest, ChoicesHintAtTheNearest) {
  EXPECT_EQ(Row(kAxisPrecision).Parse("f23").error().message,
            "precision: 'f23' is not one of f32, bf16, f16; did you mean 'f32'?");
}

TEST(AxisTest, RealsPrintShortAndReadBackAsTheSameBits) {
  const Axis& lr = Row(kAxisLr);
  EXPECT_EQ(lr.Print(*lr.Parse("0.10")), "0.1");
  EXPECT_EQ(lr.Print(*lr.Parse("1")), "1");
  EXPECT_EQ(lr.Print(*lr.Parse("1e-05")), "1e-05");
  EXPECT_EQ(lr.Print(*lr.Parse("-0")), "0");
  for (const double value : {1.0 / 3, 0.1 + 0.2, 5e-324, 999.9999999999999})
    EXPECT_EQ(std::get<double>(*lr.Parse(lr.Print(value))), value);
  for (const std::string bad : {"nan", "inf", "-1", "1001", "", "fast"})
    EXPECT_FALSE(lr.Parse(bad).ok()) << bad;
}

TEST(AxisTest, TextRefusesControlCharactersAndEndlessNames) {
  EXPECT_TRUE(Row(kAxisNetwork).Parse("my nets/größe.json").ok());
  EXPECT_FALSE(Row(kAxisNetwork).Parse("a\nb").ok());
  EXPECT_FALSE(Row(kAxisNetwork).Parse(std::string(5000, 'a')).ok());
}

TEST(AxisTest, UnknownNamesGetTheNearest) {
  EXPECT_EQ(*FindAxis("batch"), static_cast<size_t>(kAxisBatch));
  EXPECT_EQ(FindAxis("bach").error().message, "unknown axis 'bach'; did you mean 'batch'?");
  EXPECT_EQ(FindAxis("weight-decay").error().message,
            "unknown axis 'weight-decay'; did you mean 'weight_decay'?");
  EXPECT_EQ(FindAxis("zzzzzz").error().message, "unknown axis 'zzzzzz'");
}

}  // namespace
}  // namespace tench::axis_test
