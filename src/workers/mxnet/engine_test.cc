// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "workers/mxnet/network.h"

namespace tench::mxnet::engine_test {
namespace {

using testing::HasSubstr;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

TEST(MxnetEngineTest, ReadsEveryOption) {
  const EngineSettings settings = *SettingsOf({{"subgraph", "NONE"},
                                               {"bulk", "60"},
                                               {"aggregate", "4"},
                                               {"engine", "ThreadedEnginePooled"}});
  EXPECT_EQ(settings.subgraph, "NONE");
  EXPECT_EQ(settings.bulk, 60);
  EXPECT_EQ(settings.aggregate, 4);
  EXPECT_EQ(settings.engine, "ThreadedEnginePooled");
  const EngineSettings fallback = *SettingsOf({});
  EXPECT_EQ(fallback.subgraph, "MKLDNN");
  EXPECT_EQ(fallback.bulk, 15);
  EXPECT_EQ(fallback.aggregate, 0);
}

TEST(MxnetEngineTest, RefusesNumbersOutOfBounds) {
  EXPECT_TRUE(SettingsOf({{"aggregate", "60"}}).ok());
  const Result<EngineSettings> many = SettingsOf({{"aggregate", "61"}});
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(many.error().message, "option aggregate is '61'; it must be a number from 0 to 60");
  EXPECT_THAT(SettingsOf({{"bulk", "10001"}}).error().message, HasSubstr("from 0 to 10000"));
}

TEST(MxnetEngineTest, SettingsBecomeMxnetsEnvironmentVariables) {
  EngineSettings settings;
  settings.subgraph = "NONE";
  settings.bulk = 0;
  ApplySettings(settings);
  EXPECT_EQ(Variable("MXNET_ENGINE_TYPE"), "unset");
  EXPECT_EQ(Variable("MXNET_SUBGRAPH_BACKEND"), "NONE");
  EXPECT_EQ(Variable("MXNET_EXEC_BULK_EXEC_TRAIN"), "0");
  EXPECT_EQ(Variable("MXNET_CPU_WORKER_NTHREADS"), "1");
  settings.bulk = 15;
  settings.engine = kSynchronousEngine;
  ApplySettings(settings);
  EXPECT_EQ(Variable("MXNET_ENGINE_TYPE"), "NaiveEngine");
  EXPECT_EQ(Variable("MXNET_EXEC_BULK_EXEC_TRAIN"), "1");
  EXPECT_EQ(Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD"), "15");
  ApplySettings({});
}

TEST(MxnetEngineTest, NumbersDevicesAsMxnetDoes) {
  EXPECT_EQ(DeviceOf("cpu")->type, 1);
  EXPECT_EQ(DeviceOf("cpu")->id, 0);
  for (const std::string name : {"gpu:3", "cuda:3"}) {
    EXPECT_EQ(DeviceOf(name)->type, 2) << name;
    EXPECT_EQ(DeviceOf(name)->id, 3) << name;
  }
  EXPECT_EQ(DeviceOf("tpu").error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace tench::mxnet::engine_test
