// SPDX-License-Identifier: Apache-2.0
#include "data/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "base/file.h"
#include "data/sample_order.h"
#include "data/test_data_files.h"
#include "data/wire_reader.h"
#include "net/fill.h"

namespace tench::decode_test {
namespace {

using testing::HasSubstr;

StoredSample Sample(Shape shape, int64_t n = 0) {
  StoredSample sample;
  sample.bytes = Ramp(n, ElementCount(shape));
  sample.shape = std::move(shape);
  return sample;
}

std::vector<float> Applied(const Transform& transform, const StoredSample& sample,
                           const Shape& shape, const SampleDraw& draw = {}) {
  const Transformer transformer = *Transformer::Make(transform, 0);
  std::vector<float> out(static_cast<size_t>(ElementCount(shape)));
  Transformer::Scratch scratch;
  const Status status = transformer.Apply(sample, draw, shape, scratch, out);
  Check(status.ok(), status.ok() ? "" : status.error().message);
  return out;
}

TEST(TransformerTest, SubtractsTheMeanBeforeItScales) {
  Transform transform;
  transform.mean = {1, 2};
  transform.scale = 0.5f;
  EXPECT_EQ(Applied(transform, Sample({2, 1, 2}), {2, 1, 2}),
            (std::vector<float>{-0.5f, 0, 0, 0.5f}));
}

TEST(TransformerTest, BgrSwapsTheChannelsOfPicturesAndNotOfValues) {
  Transform transform;
  transform.mean = {1, 2, 3};
  StoredSample picture;
  picture.form = SampleForm::kPng;
  picture.bytes = *EncodePng(RampImage(3, 2, 2, 5));
  const std::vector<float> rgb = Applied({}, picture, {3, 2, 2});
  transform.bgr = true;
  const std::vector<float> bgr = Applied(transform, picture, {3, 2, 2});
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(bgr[4 * c + i], rgb[4 * (2 - c) + i] - static_cast<float>(c + 1));
  const StoredSample bytes = Sample({3, 2, 2});
  transform.mean.clear();
  EXPECT_EQ(Applied(transform, bytes, {3, 2, 2}), Applied({}, bytes, {3, 2, 2}));
}

TEST(TransformerTest, CropsTheCenterOutsideOfTraining) {
  Transform transform;
  transform.crop = 2;
  SampleDraw draw;
  draw.training = false;
  EXPECT_EQ(Applied(transform, Sample({1, 5, 4}), {1, 2, 2}, draw),
            (std::vector<float>{5, 6, 9, 10}));
}

TEST(TransformerTest, RandomChoicesDependOnSeedEpochAndIndexAlone) {
  Transform transform;
  transform.crop = 3;
  transform.mirror = true;
  const StoredSample sample = Sample({1, 9, 9});
  std::set<std::vector<float>> seen;
  for (uint64_t epoch = 0; epoch < 40; ++epoch) {
    const SampleDraw draw{7, epoch, 3, 10, true};
    const auto out = Applied(transform, sample, {1, 3, 3}, draw);
    EXPECT_EQ(out, Applied(transform, sample, {1, 3, 3}, draw));
    seen.insert(out);
    const uint64_t counter = epoch * 10 + 3;
    const float y = static_cast<float>(Generator(7, "data.crop_y").Integer(counter, 0, 7));
    const float x = static_cast<float>(Generator(7, "data.crop_x").Integer(counter, 0, 7));
    const bool mirrored = Generator(7, "data.mirror").Integer(counter, 0, 2) == 1;
    EXPECT_EQ(out[0], 9 * y + x + (mirrored ? 2 : 0));
    EXPECT_EQ(out[2], 9 * y + x + (mirrored ? 0 : 2));
  }
  EXPECT_GT(seen.size(), 25u);
}

TEST(TransformerTest, TheMeanImageIsCroppedAndMirroredWithTheSample) {
  const TemporaryFolder folder = *TemporaryFolder::Make("decode-test");
  const std::vector<float> values = {10, 20, 30, 40};
  std::string shape, message;
  for (const uint64_t size : {1, 1, 2, 2}) AppendVarintField(shape, 1, size);
  AppendBytesField(message, 7, shape);
  AppendBytesField(message, 5,
                   {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  WriteBytes(folder.path() / "mean", message);
  Transform transform;
  transform.mean_file = folder.path() / "mean";
  const StoredSample sample = Sample({1, 2, 2}, 100);
  EXPECT_EQ(Applied(transform, sample, {1, 2, 2}), (std::vector<float>{90, 81, 72, 63}));
  transform.mirror = true;
  uint64_t index = 0;
  while (Generator(1, "data.mirror").Integer(index, 0, 2) == 0) ++index;
  EXPECT_EQ(Applied(transform, sample, {1, 2, 2}, {1, 0, index, 100, true}),
            (std::vector<float>{81, 90, 63, 72}));
  const Transformer transformer = *Transformer::Make(transform, 0);
  EXPECT_THAT(transformer.OutputShape({1, 3, 3}).error().message,
              HasSubstr("the mean image is 1x2x2, but the samples are 1x3x3"));
}

TEST(TransformerTest, ImagesAreDecodedAndResized) {
  StoredSample sample;
  sample.form = SampleForm::kPng;
  const Image image = RampImage(1, 8, 8, 0);
  sample.bytes = *EncodePng(image);
  Transform transform;
  transform.resize_height = 4;
  transform.resize_width = 2;
  Image resized;
  Resize(image, 4, 2, resized);
  std::vector<float> expected;
  for (const char value : resized.bytes) expected.push_back(static_cast<unsigned char>(value));
  EXPECT_EQ(Applied(transform, sample, {1, 4, 2}), expected);
}

TEST(TransformerTest, RefusesWhatDoesNotFit) {
  Transform transform;
  transform.crop = 4;
  const Transformer transformer = *Transformer::Make(transform, 0);
  EXPECT_THAT(transformer.OutputShape({1, 3, 5}).error().message, HasSubstr("4 is more than"));
  std::vector<float> out(16);
  Transformer::Scratch scratch;
  EXPECT_THAT(transformer.Apply(Sample({1, 3, 5}), {}, {1, 4, 4}, scratch, out).error().message,
              HasSubstr("1x3x5 is smaller than the crop of 4"));
  EXPECT_THAT(transformer.Apply(Sample({3, 5, 5}), {}, {1, 4, 4}, scratch, out).error().message,
              HasSubstr("a sample of 3x4x4, but the network reads 1x4x4"));
}

TEST(SampleOrderTest, EveryEpochIsAnotherPermutation) {
  std::set<std::vector<uint32_t>> orders;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<uint32_t> order = ShuffledOrder(1, epoch, 50);
    EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), 50u);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 20u);
  EXPECT_NE(ShuffledOrder(1, 0, 50), ShuffledOrder(2, 0, 50));
  EXPECT_EQ(ShuffledOrder(1, 0, 1), std::vector<uint32_t>{0});
}

// A change of these numbers changes what every stored result was trained on.
TEST(SampleOrderTest, TheOrderIsPinned) {
  EXPECT_EQ(ShuffledOrder(1, 0, 8), (std::vector<uint32_t>{1, 4, 0, 2, 7, 6, 3, 5}));
  EXPECT_EQ(ShuffledOrder(1, 1, 8), (std::vector<uint32_t>{4, 6, 3, 2, 0, 7, 1, 5}));
}

TEST(SampleOrderTest, PositionsContinueOverEpochsInAnyOrderOfCalls) {
  const SampleOrder shuffled(3, 10, true), plain(3, 10, false);
  for (const int64_t position : {25, 3, 17, 29, 0, 12}) {
    EXPECT_EQ(shuffled.At(position),
              ShuffledOrder(3, position / 10, 10)[static_cast<size_t>(position % 10)]);
    EXPECT_EQ(plain.At(position), position % 10);
  }
}

}  // namespace
}  // namespace tench::decode_test
