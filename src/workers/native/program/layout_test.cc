// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/layout.h"

#include <gtest/gtest.h>

namespace tench::native::layout_test {
namespace {

using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

Md Blocked8(const Shape& shape) { return Md(shape, kF32, Tag::nChw8c); }

TEST(LayoutTest, PlainIsRowMajorInTheLogicalOrder) {
  EXPECT_EQ(PlainMd({2, 3, 4}).get_strides(), (Shape{12, 4, 1}));
  EXPECT_EQ(PlainMd({2, 3, 4, 5, 6}).get_strides(), (Shape{360, 120, 30, 6, 1}));
  EXPECT_EQ(PlainMd({}).get_dims(), Shape{1});
  EXPECT_EQ(PlainMd({7}).get_data_type(), kF32);
  EXPECT_EQ(PlainMd({7}, dnnl::memory::data_type::s32).get_data_type(),
            dnnl::memory::data_type::s32);
}

TEST(LayoutTest, TheChannelBlockIsAsWideAsTheVectors) {
  const auto isa = dnnl::get_effective_cpu_isa();
  const bool avx2 = isa == dnnl::cpu_isa::avx2 || isa == dnnl::cpu_isa::avx2_vnni ||
                    isa == dnnl::cpu_isa::avx || isa == dnnl::cpu_isa::sse41;
  EXPECT_EQ(ChannelBlock(), avx2 ? 8 : 16);
}

TEST(LayoutTest, ActivationsAreBlockedUnlessTheyHaveFewChannelsOrAreNoImages) {
  const Md image = ActivationMd({2, 20, 5, 5});
  ASSERT_EQ(image.get_inner_nblks(), 1);
  EXPECT_EQ(image.get_inner_idxs(), Shape{1});
  EXPECT_EQ(image.get_inner_blks(), Shape{ChannelBlock()});
  EXPECT_EQ(ActivationMd({2, 8, 5, 5}).get_inner_nblks(), 1);
  EXPECT_EQ(ActivationMd({2, 7, 5, 5}), PlainMd({2, 7, 5, 5}));
  EXPECT_EQ(ActivationMd({2, 20}), PlainMd({2, 20}));
}

TEST(LayoutTest, ChannelsLastAndTimeMajorPermuteTheStrides) {
  EXPECT_EQ(ChannelsLastMd({2, 3, 4, 5}).get_strides(), (Shape{60, 1, 15, 3}));
  EXPECT_EQ(TimeMajorMd({2, 3, 4}).get_strides(), (Shape{4, 8, 1}));
}

TEST(LayoutTest, ADenseLayoutIsOneRow) {
  EXPECT_EQ(RowsOf(PlainMd({2, 3, 4})), (Rows{1, 24, 24}));
  EXPECT_EQ(RowsOf(ChannelsLastMd({2, 3, 4, 5})), (Rows{1, 120, 120}));
  // 12 channels fill two blocks of eight.
  EXPECT_EQ(RowsOf(Blocked8({2, 12, 3, 3})), (Rows{1, 2 * 16 * 9, 2 * 16 * 9}));
}

TEST(LayoutTest, AViewIsRowsAndAnIrregularViewIsNone) {
  const Md whole = PlainMd({2, 6, 4, 4});
  EXPECT_EQ(RowsOf(whole.submemory_desc({2, 3, 4, 4}, {0, 2, 0, 0})), (Rows{2, 48, 96}));
  EXPECT_EQ(RowsOf(Blocked8({3, 24, 2, 2}).submemory_desc({3, 8, 2, 2}, {0, 8, 0, 0})),
            (Rows{3, 32, 96}));
  EXPECT_FALSE(RowsOf(whole.submemory_desc({2, 3, 2, 2}, {0, 0, 0, 0})));
}

TEST(LayoutTest, CutRowsDividesOneRowAndKeepsRowsOfTheLength) {
  EXPECT_EQ(CutRows({1, 24, 24}, 6), (Rows{4, 6, 6}));
  EXPECT_EQ(CutRows({3, 6, 10}, 6), (Rows{3, 6, 10}));
  EXPECT_DEATH(CutRows({1, 24, 24}, 7), "do not divide");
  EXPECT_DEATH(CutRows({2, 24, 30}, 6), "do not divide");
}

TEST(LayoutTest, OrderIgnoresTheStridesOfAView) {
  const Shape shape = {2, 8, 3, 3};
  const Md view = Blocked8({2, 16, 3, 3}).submemory_desc(shape, {0, 8, 0, 0});
  EXPECT_TRUE(SameOrder(view, Blocked8(shape)));
  EXPECT_TRUE(SameOrder(PlainMd(shape), PlainMd(shape)));
  EXPECT_FALSE(SameOrder(PlainMd(shape), ChannelsLastMd(shape)));
  EXPECT_FALSE(SameOrder(PlainMd(shape), Blocked8(shape)));
  EXPECT_FALSE(SameOrder(PlainMd(shape), PlainMd({2, 8, 9, 1})));
}

TEST(LayoutTest, DensePaddedAndPlainAreToldApart) {
  const Md whole = PlainMd({2, 8, 3, 3});
  const Md view = whole.submemory_desc({2, 4, 3, 3}, {0, 0, 0, 0});
  EXPECT_TRUE(IsDense(whole));
  EXPECT_FALSE(IsDense(view));
  EXPECT_TRUE(IsDense(Blocked8({2, 12, 3, 3}))) << "padding is no gap";
  EXPECT_TRUE(IsPadded(Blocked8({2, 12, 3, 3})));
  EXPECT_FALSE(IsPadded(Blocked8({2, 16, 3, 3})));
  EXPECT_TRUE(IsPlain(whole));
  EXPECT_FALSE(IsPlain(view));
  EXPECT_FALSE(IsPlain(ChannelsLastMd({2, 8, 3, 3})));
  EXPECT_FALSE(IsPlain(Blocked8({2, 8, 3, 3})));
}

TEST(LayoutTest, DenseLikeKeepsTheOrderAndDropsGapsAndOffset) {
  const Shape shape = {2, ChannelBlock(), 3, 3};
  const Md blocked = ActivationMd({2, 2 * ChannelBlock(), 3, 3});
  const Md view = blocked.submemory_desc(shape, {0, ChannelBlock(), 0, 0});
  EXPECT_EQ(DenseLike(view), ActivationMd(shape));
  EXPECT_EQ(DenseLike(blocked), blocked);
  EXPECT_EQ(DenseLike(PlainMd({2, 6, 3}).submemory_desc({2, 3, 3}, {0, 3, 0})), PlainMd({2, 3, 3}));
  // One sample has no gaps, but an offset.
  const Md single = PlainMd({1, 6, 4, 4}).submemory_desc({1, 3, 4, 4}, {0, 3, 0, 0});
  ASSERT_TRUE(IsDense(single));
  EXPECT_EQ(DenseLike(single).get_submemory_offset(), 0);
  const Md last = ChannelsLastMd({2, 32, 4, 4}).submemory_desc({2, 16, 4, 4}, {0, 0, 0, 0});
  EXPECT_EQ(DenseLike(last), ChannelsLastMd({2, 16, 4, 4}));
}

TEST(LayoutTest, AttributesLeaveTheScratchpadToTheCallerAndFuseTheActivation) {
  EXPECT_EQ(PlainAttributes().get_scratchpad_mode(), dnnl::scratchpad_mode::user);
  EXPECT_EQ(WithActivation(Activation::kNone).get_post_ops().len(), 0);
  for (const auto& [activation, algorithm] :
       {std::pair{Activation::kRelu, dnnl::algorithm::eltwise_relu},
        std::pair{Activation::kSigmoid, dnnl::algorithm::eltwise_logistic},
        std::pair{Activation::kTanh, dnnl::algorithm::eltwise_tanh}}) {
    const dnnl::primitive_attr attributes = WithActivation(activation);
    EXPECT_EQ(attributes.get_scratchpad_mode(), dnnl::scratchpad_mode::user);
    ASSERT_EQ(attributes.get_post_ops().len(), 1);
    dnnl::algorithm found = dnnl::algorithm::undef;
    float alpha = 1, beta = 1;
    attributes.get_post_ops().get_params_eltwise(0, found, alpha, beta);
    EXPECT_EQ(found, algorithm);
    EXPECT_EQ(alpha, 0);
    EXPECT_EQ(beta, 0);
  }
}

}  // namespace
}  // namespace tench::native::layout_test
