// SPDX-License-Identifier: Apache-2.0
#include "store/census_blob.h"

#include <gtest/gtest.h>

namespace tench::census_blob_test {
namespace {

TEST(CensusBlobTest, ReadsBackWhatItWrote) {
  Census census{"profile of native", 3, {}};
  census.rows.push_back({"conv1", "backward_weights", KernelGroup::kConvolution, "conv",
                         "winograd:avx2", "mb1ic3", "nchw", 3, 1'000'000, 2'000'000, 64, true});
  census.rows.push_back({"", "update", KernelGroup::kUpdate, "", "sgd", "", "", 6, 7, 0, 0, false});
  census.ceilings = {{"avx2", 2, 1.5e12, 0, false}, {"L1", 2, 0, 3e11, true}};
  const Result<Census> back = DecodeCensus(EncodeCensus(census));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, census);
}

TEST(CensusBlobTest, ARunWithoutAProfileHasNoBytes) {
  EXPECT_EQ(EncodeCensus({}), "");
  EXPECT_EQ(*DecodeCensus(""), Census());
}

TEST(CensusBlobTest, DamageIsAnErrorNotACrash) {
  for (const char* text : {"{", "[]", "{\"source\":\"x\",\"steps\":0,\"rows\":[],\"ceilings\":[]}",
                           "{\"source\":\"x\",\"steps\":1,\"rows\":[3]}",
                           "{\"source\":\"x\",\"steps\":1,\"rows\":{}}"})
    EXPECT_FALSE(DecodeCensus(text).ok()) << text;
}

}  // namespace
}  // namespace tench::census_blob_test
