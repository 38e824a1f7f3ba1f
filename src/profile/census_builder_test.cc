// SPDX-License-Identifier: Apache-2.0
#include "profile/census_builder.h"

#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace tench::census_builder_test {
namespace {

TEST(CensusBuilderTest, EveryRowHasItsOpItsProblemAndItsGroup) {
  const Census census = MakeCensus(PlainProfile(), ProfiledNetwork(), "torch", 3);
  EXPECT_EQ(census.source, "profile of torch");
  EXPECT_EQ(census.steps, 2);
  ASSERT_EQ(census.rows.size(), 8u);
  EXPECT_EQ(census.rows[0].primitive, "conv");
  EXPECT_EQ(census.rows[0].problem, "mb2g1ic3ih8iw8oc4oh8ow8kh3kw3sh1sw1ph1pw1");
  EXPECT_EQ(census.rows[0].group, KernelGroup::kConvolution);
  EXPECT_EQ(census.rows[1].group, KernelGroup::kActivation);
  EXPECT_EQ(census.rows[4].problem, "m2n10k256");
  EXPECT_EQ(census.rows[6].group, KernelGroup::kUpdate);
  EXPECT_EQ(census.rows[6].primitive, "");
  EXPECT_EQ(census.rows[7].group, KernelGroup::kConversion);
}

TEST(CensusBuilderTest, BytesComeFromTheShapesOnlyIfTheWorkerReportsNone) {
  const Census plain = MakeCensus(PlainProfile(), ProfiledNetwork(), "torch", 3);
  EXPECT_TRUE(plain.rows[0].bytes_from_shapes);
  // Input 2·3·8·8, output 2·4·8·8, weights 4·3·3·3, bias 4; two steps.
  EXPECT_EQ(plain.rows[0].bytes, 2 * 4 * (384 + 512 + 108 + 4));
  EXPECT_EQ(plain.rows[1].bytes, 0) << "a kernel without FLOPs";
  const Census fusing = MakeCensus(FusingProfile(), ProfiledNetwork(), "native", 5);
  EXPECT_FALSE(fusing.rows[0].bytes_from_shapes);
  EXPECT_EQ(fusing.rows[0].bytes, 64);
}

TEST(CensusBuilderTest, KernelsOfOneNameInALayerAreOneRow) {
  std::vector<ProfileRow> rows = {{"conv1", "forward", "gemm", 2, 10, 4, 1},
                                  {"conv1", "forward", "gemm", 2, 20, 4, 1}};
  const Census census = MakeCensus(rows, ProfiledNetwork(), "x", 2);
  ASSERT_EQ(census.rows.size(), 1u);
  EXPECT_EQ(census.rows[0].calls, 4);
  EXPECT_EQ(census.rows[0].time_ns, 30);
  EXPECT_EQ(census.rows[0].flops, 8);
}

TEST(CensusBuilderTest, StepsAreTheCallsThatMostOfTheTimeBelongsTo) {
  const std::vector<ProfileRow> rows = {{"a", "forward", "k", 10, 100, 0, 0},
                                        {"a", "forward", "twice", 20, 60, 0, 0},
                                        {"", "forward", "once", 1, 50, 0, 0},
                                        {"b", "forward", "k", 10, 10, 0, 0}};
  EXPECT_EQ(ProfiledSteps(rows, 13), 10);
  EXPECT_EQ(ProfiledSteps({}, 13), 13);
}

TEST(CensusBuilderTest, MergedRunsAddUp) {
  const Census one = MakeCensus(FusingProfile(), ProfiledNetwork(), "native", 5);
  const std::vector<Census> two = {one, one};
  const Census merged = Merged(two);
  EXPECT_EQ(merged.steps, 8);
  ASSERT_EQ(merged.rows.size(), one.rows.size());
  EXPECT_EQ(merged.rows[0].time_ns, 2 * one.rows[0].time_ns);
  EXPECT_EQ(merged.source, one.source);
}

TEST(CensusBuilderTest, AnEmptyProfileHasNoSteps) {
  EXPECT_EQ(MakeCensus({}, ProfiledNetwork(), "x", 3), Census());
}

}  // namespace
}  // namespace tench::census_builder_test
