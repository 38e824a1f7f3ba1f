// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/flipped_weights.h"

#include <gtest/gtest.h>

#include <vector>

#include "net/tensor.h"

namespace tench::native::flipped_weights_test {
namespace {

using Tag = dnnl::memory::format_tag;

Md Weights(const Shape& dims, Tag tag) { return Md(dims, dnnl::memory::data_type::f32, tag); }

std::vector<float> Reordered(const Md& from, std::vector<float> values, const Md& to) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<float> result(to.get_size() / sizeof(float));
  dnnl::memory source(from, engine, values.data()), target(to, engine, result.data());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  return result;
}

TEST(FlippedWeightsTest, ExchangesChannelsAndRotatesFilters) {
  const Shape dims = {16, 24, 3, 2}, flipped_dims = {24, 16, 3, 2};
  const Md stored = Weights(dims, Tag::OIhw8i8o), flipped = Weights(flipped_dims, Tag::OIhw8o8i);
  ASSERT_TRUE(CanFlip(stored, flipped));
  std::vector<float> plain(ElementCount(dims));
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i);
  const std::vector<float> blocked = Reordered(Weights(dims, Tag::oihw), plain, stored);
  std::vector<float> result(blocked.size());
  FlipWeights(stored, blocked.data(), result.data());
  const std::vector<float> found = Reordered(flipped, result, Weights(flipped_dims, Tag::oihw));
  for (int64_t o = 0; o < 16; ++o) {
    for (int64_t i = 0; i < 24; ++i) {
      for (int64_t h = 0; h < 3; ++h) {
        for (int64_t w = 0; w < 2; ++w)
          ASSERT_EQ(found[((i * 16 + o) * 3 + 2 - h) * 2 + 1 - w],
                    plain[((o * 24 + i) * 3 + h) * 2 + w])
              << o << " " << i << " " << h << " " << w;
      }
    }
  }
}

TEST(FlippedWeightsTest, FlipsEachGroup) {
  const Shape dims = {2, 8, 16, 1, 3}, flipped_dims = {2, 16, 8, 1, 3};
  const Md stored = Weights(dims, Tag::gOIhw8i8o), flipped = Weights(flipped_dims, Tag::gOIhw8o8i);
  ASSERT_TRUE(CanFlip(stored, flipped));
  std::vector<float> plain(ElementCount(dims));
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i);
  std::vector<float> result(plain.size());
  FlipWeights(stored, Reordered(Weights(dims, Tag::goihw), plain, stored).data(), result.data());
  const std::vector<float> found = Reordered(flipped, result, Weights(flipped_dims, Tag::goihw));
  for (int64_t g = 0; g < 2; ++g) {
    for (int64_t o = 0; o < 8; ++o) {
      for (int64_t i = 0; i < 16; ++i) {
        for (int64_t w = 0; w < 3; ++w)
          ASSERT_EQ(found[((g * 16 + i) * 8 + o) * 3 + 2 - w],
                    plain[((g * 8 + o) * 16 + i) * 3 + w]);
      }
    }
  }
}

TEST(FlippedWeightsTest, RefusesOtherInnerOrdersBlocksAndPadding) {
  const Shape dims = {16, 16, 3, 3};
  const Md stored = Weights(dims, Tag::OIhw8i8o);
  EXPECT_FALSE(CanFlip(stored, Weights(dims, Tag::OIhw8i8o))) << "same inner order";
  EXPECT_FALSE(CanFlip(stored, Weights(dims, Tag::OIhw16o16i))) << "other block";
  EXPECT_FALSE(CanFlip(Weights(dims, Tag::oihw), Weights(dims, Tag::OIhw8o8i))) << "plain";
  const Shape odd = {12, 16, 3, 3};
  EXPECT_FALSE(CanFlip(Weights(odd, Tag::OIhw8i8o), Weights({16, 12, 3, 3}, Tag::OIhw8o8i)))
      << "padded";
}

}  // namespace
}  // namespace tench::native::flipped_weights_test
