// SPDX-License-Identifier: Apache-2.0
#include "base/variable_name.h"

#include <gtest/gtest.h>

namespace tench::variable_name_test {
namespace {

TEST(VariableNameTest, IsCapitalsAndUnderscores) {
  EXPECT_EQ(VariableName("nv-0.17"), "NV_0_17");
  EXPECT_EQ(VariableName("torch-python"), "TORCH_PYTHON");
  EXPECT_EQ(VariableName("Intel"), "INTEL");
  EXPECT_EQ(VariableName("\xc3\xa9"), "__");
  EXPECT_EQ(VariableName(""), "");
}

}  // namespace
}  // namespace tench::variable_name_test
