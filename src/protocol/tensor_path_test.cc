// SPDX-License-Identifier: Apache-2.0
#include "protocol/tensor_path.h"

#include <gtest/gtest.h>

namespace tench::tensor_path_test {
namespace {

TEST(TensorPathTest, StaysInItsFolderWhateverTheName) {
  EXPECT_EQ(TensorPath("/t", "outputs", "inception_3a/1x1"), "/t/outputs/inception_3a%2F1x1.bin");
  EXPECT_EQ(TensorPath("/t", "gradients", "../conv1.weight"), "/t/gradients/..%2Fconv1.weight.bin");
}

TEST(TensorPathTest, NoTwoNamesShareAFile) {
  EXPECT_NE(TensorPath("/t", "outputs", "a/b"), TensorPath("/t", "outputs", "a%2Fb"));
  EXPECT_EQ(TensorPath("/t", "outputs", "a%2Fb"), "/t/outputs/a%252Fb.bin");
}

}  // namespace
}  // namespace tench::tensor_path_test
