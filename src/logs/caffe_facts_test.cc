// SPDX-License-Identifier: Apache-2.0
#include "logs/caffe_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "logs/training_log.h"

namespace tench::caffe_facts_test {
namespace {

using testing::ElementsAre;

constexpr const char* kTrain =
    "I1115 23:02:17.841398 1 caffe.cpp:197] Use CPU.\n"
    "I1115 23:02:17.841732 1 solver.cpp:45] Initializing solver from parameters: \n"
    "base_lr: 0.01\nmomentum: 0.9\nweight_decay: 0.0005\nsolver_mode: CPU\n"
    "I1115 23:02:17.842837 1 net.cpp:53] Initializing net from parameters: \n"
    "name: \"AlexNet\"\nlayer {\n  name: \"conv1\"\n  weight_decay: 7\n}\n"
    "I1115 23:02:17.843384 1 net.cpp:131] Top shape: 16 3 227 227 (2473392)\n"
    "I1115 23:02:17.844030 1 net.cpp:131] Top shape: 8 96 55 55 (4646400)\n";

TEST(CaffeFactsTest, CaffesLogStatesItsNetworkDeviceBatchAndRates) {
  const CaffeFacts facts = ReadCaffeFacts(kTrain);
  EXPECT_EQ(facts.worker, "");
  EXPECT_EQ(facts.network, "AlexNet");
  EXPECT_EQ(facts.device, "cpu");
  EXPECT_EQ(facts.batch, 16);
  EXPECT_EQ(facts.lr, 0.01);
  EXPECT_EQ(facts.momentum, 0.9);
  EXPECT_EQ(facts.weight_decay, 0.0005);
  EXPECT_FALSE(facts.timing);
  EXPECT_EQ(ReadCaffeFacts("nothing\n").batch, 0);
}

TEST(CaffeFactsTest, TenchStatesThemInOneLine) {
  const CaffeFacts facts = ReadCaffeFacts(
      "I20261115 23:02:17.800000 1 tench.cpp:1] tench train: worker native, network net, device gpu:0, "
      "batch 64, threads 2\n");
  EXPECT_EQ(facts.worker, "native");
  EXPECT_EQ(facts.network, "net");
  EXPECT_EQ(facts.device, "gpu");
  EXPECT_EQ(facts.batch, 64);
  EXPECT_EQ(facts.threads, 2);
}

TEST(CaffeFactsTest, ATrainingByTenchHasThePrintedTimes) {
  const auto log = ReadCaffeLog(
      "I20261115 23:02:17.800000 1 tench.cpp:1] tench train: worker native, network net\n"
      "I20261115 23:02:17.800000 1 solver.cpp:289] Solving net\n"
      "I20261115 23:02:18.800000 1 solver.cpp:239] Iteration 0 (4 iter/s, 0.25s/2 iters), loss = "
      "3\n"
      "I20261115 23:02:18.800000 1 solver.cpp:239] Iteration 2 (4 iter/s, 0.5s/2 iters), loss = "
      "2\n",
      "x.log");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_THAT(log->step_ns, ElementsAre(250'000'000, 250'000'000));
}

TEST(CaffeFactsTest, CaffeTimePrintsTheTimeOfEveryPass) {
  const std::string text =
      std::string(kTrain) +
      "I1115 23:02:18.100000 1 caffe.cpp:360] Initial loss: 6.98\n"
      "I1115 23:02:18.200000 1 caffe.cpp:364] *** Benchmark begins ***\n"
      "I1115 23:02:19.200000 1 caffe.cpp:392] Iteration: 1 forward-backward time: 1192 ms.\n"
      "I1115 23:02:20.200000 1 caffe.cpp:392] Iteration: 2 forward-backward time: 1190 ms.\n";
  EXPECT_TRUE(ReadCaffeFacts(text).timing);
  const auto log = ReadCaffeTimeLog(text, "x.log");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_THAT(log->step_ns, ElementsAre(1'192'000'000, 1'190'000'000));
  EXPECT_THAT(log->loss, ElementsAre(6.98, 6.98));
  EXPECT_FALSE(ReadCaffeTimeLog(kTrain, "x.log").ok());
}

}  // namespace
}  // namespace tench::caffe_facts_test
