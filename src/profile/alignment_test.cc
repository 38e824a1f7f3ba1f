// SPDX-License-Identifier: Apache-2.0
#include "profile/alignment.h"

#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace tench::alignment_test {
namespace {

const AlignedRow* Find(const Alignment& alignment, const std::string& layer,
                       const std::string& direction) {
  for (const AlignedRow& row : alignment.rows) {
    if (row.layer == layer && row.direction == direction && row.group != KernelGroup::kConversion)
      return &row;
  }
  return nullptr;
}

TEST(AlignmentTest, RowsAndRemainderSumToTheStepOfEachSide) {
  const Alignment alignment = AlignProfiles(FusingSide(), PlainSide());
  double a_ns = alignment.a_remainder_ns(), b_ns = alignment.b_remainder_ns(), rows_ns = 0;
  for (const AlignedRow& row : alignment.rows) {
    a_ns += row.a.time_ns;
    b_ns += row.b.time_ns;
    rows_ns += row.difference_ns();
  }
  EXPECT_DOUBLE_EQ(a_ns, 8'000'000);
  EXPECT_DOUBLE_EQ(b_ns, 15'000'000);
  double groups_ns = 0;
  for (const GroupTime& group : alignment.groups) groups_ns += group.difference_ns();
  EXPECT_DOUBLE_EQ(groups_ns, rows_ns);
  EXPECT_DOUBLE_EQ(rows_ns + alignment.b_remainder_ns() - alignment.a_remainder_ns(),
                   alignment.difference_ns());
}

TEST(AlignmentTest, AGradientThatOneSideDoesNotDivideIsOneRow) {
  const Alignment alignment = AlignProfiles(FusingSide(), PlainSide());
  EXPECT_EQ(Find(alignment, "conv2", "backward_data"), nullptr);
  const AlignedRow* row = Find(alignment, "conv2", "backward");
  ASSERT_NE(row, nullptr);
  EXPECT_DOUBLE_EQ(row->a.time_ns, 3'000'000);
  EXPECT_DOUBLE_EQ(row->b.time_ns, 6'000'000);
  EXPECT_DOUBLE_EQ(row->a.calls, 2);
}

TEST(AlignmentTest, AGradientThatBothSidesDivideStaysDivided) {
  const Alignment alignment = AlignProfiles(FusingSide(), FusingSide());
  EXPECT_NE(Find(alignment, "conv2", "backward_data"), nullptr);
  EXPECT_DOUBLE_EQ(alignment.difference_ns(), 0);
}

TEST(AlignmentTest, ALayerThatASideFusesHasNoKernelThere) {
  const Alignment alignment = AlignProfiles(FusingSide(), PlainSide());
  const AlignedRow* relu = Find(alignment, "relu1", "forward");
  ASSERT_NE(relu, nullptr);
  EXPECT_EQ(relu->a.implementation, "");
  EXPECT_DOUBLE_EQ(relu->b.time_ns, 500'000);
}

TEST(AlignmentTest, UpdatesOfAllLayersAreOneRow) {
  const Alignment alignment = AlignProfiles(FusingSide(), PlainSide());
  const AlignedRow* update = Find(alignment, "", "update");
  ASSERT_NE(update, nullptr);
  EXPECT_DOUBLE_EQ(update->a.time_ns, 200'000);
  EXPECT_DOUBLE_EQ(update->a.calls, 2);
  EXPECT_DOUBLE_EQ(update->b.time_ns, 400'000);
}

TEST(AlignmentTest, TheLargestDifferenceComesFirst) {
  const Alignment alignment = AlignProfiles(FusingSide(), PlainSide());
  EXPECT_EQ(alignment.rows.front().layer, "conv2");
  EXPECT_EQ(alignment.rows.front().direction, "backward");
}

}  // namespace
}  // namespace tench::alignment_test
