// SPDX-License-Identifier: Apache-2.0
#include "worker/turn_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>

namespace tench::turn_source_test {
namespace {

using testing::HasSubstr;

class TurnSourceTest : public testing::Test {
 protected:
  TurnSourceTest() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    source.emplace(Fd(ends[0]), stop.token());
    out = Fd(ends[1]);
  }
  void Write(std::string_view text) {
    ASSERT_EQ(write(out.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  StopSource stop;
  std::optional<TurnSource> source;
  Fd out;
};

TEST_F(TurnSourceTest, ReadsATurnPerLineUntilTheEnd) {
  Write(TurnLine({1, 7}) + "\n" + TurnLine({0, 3}) + "\n");
  out.Close();
  EXPECT_EQ(*source->Next(), (Turn{1, 7}));
  EXPECT_EQ(*source->Next(), (Turn{0, 3}));
  EXPECT_EQ(*source->Next(), std::nullopt);
}

TEST_F(TurnSourceTest, AStopEndsTheWait) {
  stop.RequestStop();
  EXPECT_EQ(*source->Next(), std::nullopt);
}

TEST_F(TurnSourceTest, ALineThatIsNoTurnIsAnErrorThatNamesItsField) {
  Write("{\"type\":\"go\",\"warmup_steps\":1,\"steps\":0}\n{\"type\":\"gone\"}\n");
  EXPECT_THAT(source->Next().error().message, HasSubstr("standard input: turn.steps"));
  EXPECT_THAT(source->Next().error().message, HasSubstr("turn.type"));
  Write("{\"type\"");
  out.Close();
  EXPECT_THAT(source->Next().error().message, HasSubstr("one line"));
}

}  // namespace
}  // namespace tench::turn_source_test
