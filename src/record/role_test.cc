// SPDX-License-Identifier: Apache-2.0
#include "record/role.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::role_test {
namespace {

TEST(RoleTest, EveryNameReadsBackAsItself) {
  for (const std::string& name : RoleNames()) EXPECT_EQ(Name(*ParseRole(name)), name);
  EXPECT_EQ(Name(Role::kOracle), "oracle");
}

TEST(RoleTest, AnUnknownNameIsAnErrorWithTheNearest) {
  EXPECT_THAT(ParseRole("base_line").error().message,
              testing::HasSubstr("did you mean 'baseline'?"));
}

TEST(RoleTest, AWorkerWithoutAStatedRoleIsAFrameworkUnlessItIsOurOwn) {
  EXPECT_EQ(UsualRole("native"), Role::kBaseline);
  EXPECT_EQ(UsualRole("native@0.1.0"), Role::kBaseline);
  EXPECT_EQ(UsualRole("reference"), Role::kOracle);
  EXPECT_EQ(UsualRole("native2"), Role::kFramework);
  EXPECT_EQ(UsualRole("torch@2.1"), Role::kFramework);
}

}  // namespace
}  // namespace tench::role_test
