// SPDX-License-Identifier: Apache-2.0
#include "base/stop_token.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace tench::stop_token_test {
namespace {

TEST(StopTokenTest, ATokenWithoutASourceNeverStops) { EXPECT_FALSE(StopToken().stop_requested()); }

TEST(StopTokenTest, EveryCopySeesTheRequestAndTheReset) {
  StopSource source;
  const StopToken token = source.token();
  const StopToken copy = token;
  EXPECT_FALSE(copy.stop_requested());
  EXPECT_TRUE(source.RequestStop());
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(copy.stop_requested());
  source.Reset();
  EXPECT_FALSE(copy.stop_requested());
}

TEST(StopTokenTest, OnlyTheFirstRequestIsTheFirst) {
  StopSource source;
  EXPECT_TRUE(source.RequestStop());
  EXPECT_FALSE(source.RequestStop());
  source.Reset();
  EXPECT_TRUE(source.RequestStop());
}

constinit StopSource from_handler;

TEST(StopTokenTest, ASignalHandlerMayRequestTheStop) {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) { from_handler.RequestStop(); };
  sigaction(SIGUSR1, &action, &before);
  EXPECT_FALSE(from_handler.token().stop_requested());
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(from_handler.token().stop_requested());
}

}  // namespace
}  // namespace tench::stop_token_test
