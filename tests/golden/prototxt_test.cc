// SPDX-License-Identifier: Apache-2.0
// Pins the prototxts that tench writes: prototxts/NETWORK-DATA.prototxt. Real Caffe has accepted this form; a change of it is never an accident.

#include <gtest/gtest.h>

#include "data/data_set.h"
#include "golden.h"
#include "net/caffe/prototxt_writer.h"

namespace tench {
namespace {

TEST(PrototxtGoldenTest, TheWrittenFormIsPinned) {
  for (const auto& [network, data] : {std::pair("lenet", "mnist"), std::pair("resnet18", "cifar10"), std::pair("autoencoder", "mnist")}) {
    const Result<std::string> text = WriteTrainPrototxt(*LoadNetwork(network, data, 0), {CaffeData::Kind::kDummy, "", 64});
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_TRUE(MatchesGolden(fmt::format("prototxts/{}-{}.prototxt", network, data), *text));
  }
}

}  // namespace
}  // namespace tench
