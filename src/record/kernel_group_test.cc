// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_group.h"

#include <gtest/gtest.h>

namespace tench::kernel_group_test {
namespace {

TEST(KernelGroupTest, EveryNameReadsBackAsItsGroup) {
  for (size_t i = 0; i < KernelGroupNames().size(); ++i) {
    const auto group = static_cast<KernelGroup>(i);
    EXPECT_EQ(*ParseKernelGroup(Name(group)), group);
  }
  EXPECT_EQ(Name(KernelGroup::kOther), KernelGroupNames().back());
}

TEST(KernelGroupTest, AnUnknownNameIsAnError) {
  EXPECT_FALSE(ParseKernelGroup("convolutions!").ok());
}

}  // namespace
}  // namespace tench::kernel_group_test
