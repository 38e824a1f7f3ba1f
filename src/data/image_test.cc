// SPDX-License-Identifier: Apache-2.0
#include "data/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "data/test_data_files.h"

namespace tench::image_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

int LargestDifference(const Image& a, const Image& b) {
  Check(a.bytes.size() == b.bytes.size(), "the images have different sizes");
  int largest = 0;
  for (size_t i = 0; i < a.bytes.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<unsigned char>(a.bytes[i]) -
                                         static_cast<unsigned char>(b.bytes[i])));
  return largest;
}

TEST(ImageTest, APngKeepsEveryBit) {
  for (const int64_t channels : {1, 3}) {
    const Image image = RampImage(channels, 5, 7, 3);
    const std::string file = *EncodePng(image);
    ASSERT_TRUE(IsPng(file));
    Image decoded;
    ASSERT_TRUE(DecodePng(file, {}, decoded).ok());
    EXPECT_EQ(decoded.channels, channels);
    EXPECT_EQ(decoded.height, 5);
    EXPECT_EQ(decoded.width, 7);
    EXPECT_EQ(decoded.bytes, image.bytes);
  }
}

TEST(ImageTest, APngBecomesGreyOrColourOnRequest) {
  const std::string file = *EncodePng(RampImage(1, 2, 2, 10));
  Image colour;
  ASSERT_TRUE(DecodePng(file, {3, 0, 0}, colour).ok());
  EXPECT_EQ(colour.channels, 3);
  EXPECT_EQ(colour.bytes, Ramp(10, 4) + Ramp(10, 4) + Ramp(10, 4));
}

TEST(ImageTest, AJpegIsDecodedIntoPlanes) {
  const Image image = SmoothImage(32, 48);
  const std::string file = EncodeJpeg(image);
  ASSERT_TRUE(IsJpeg(file));
  Image decoded;
  ASSERT_TRUE(DecodeJpeg(file, {}, decoded).ok());
  ASSERT_EQ(decoded.height, 32);
  ASSERT_EQ(decoded.width, 48);
  EXPECT_LE(LargestDifference(decoded, image), 6);
  Image grey;
  ASSERT_TRUE(DecodeJpeg(file, {1, 0, 0}, grey).ok());
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.bytes.size(), 32u * 48u);
}

TEST(ImageTest, AJpegIsDecodedAtTheSmallestScaleThatSuffices) {
  const std::string file = EncodeJpeg(SmoothImage(64, 80));
  const auto size = [&](int64_t height, int64_t width) {
    Image decoded;
    Check(DecodeJpeg(file, {3, height, width}, decoded).ok(), "it cannot be decoded");
    return std::pair(decoded.height, decoded.width);
  };
  EXPECT_EQ(size(8, 10), std::pair(int64_t{8}, int64_t{10}));
  EXPECT_EQ(size(9, 10), std::pair(int64_t{16}, int64_t{20}));
  EXPECT_EQ(size(16, 21), std::pair(int64_t{32}, int64_t{40}));
  EXPECT_EQ(size(33, 1), std::pair(int64_t{64}, int64_t{80}));
  EXPECT_EQ(size(100, 100), std::pair(int64_t{64}, int64_t{80}));
}

TEST(ImageTest, HalfAJpegIsAnErrorWithItsOffset) {
  const std::string file = EncodeJpeg(RampImage(3, 64, 64, 0), 100);
  Image image;
  const Status half = DecodeJpeg(file.substr(0, file.size() / 2), {}, image);
  ASSERT_FALSE(half.ok());
  EXPECT_EQ(half.error().message, fmt::format("offset {}: the JPEG is cut off", file.size() / 2));
  EXPECT_FALSE(DecodeJpeg(file.substr(0, 3), {}, image).ok());
  EXPECT_FALSE(DecodeJpeg("", {}, image).ok());
  EXPECT_THAT(DecodeJpeg("\xff\xd8\xff no image", {}, image).error().message,
              StartsWith("offset "));
}

TEST(ImageTest, HalfAPngIsAnError) {
  const std::string file = *EncodePng(RampImage(3, 64, 64, 0));
  Image image;
  EXPECT_THAT(DecodePng(file.substr(0, file.size() / 2), {}, image).error().message,
              HasSubstr("broken PNG"));
  EXPECT_FALSE(DecodePng("", {}, image).ok());
}

// The formula of docs/data.md, one pixel at a time.
int Bilinear(const Image& image, int64_t c, int64_t y, int64_t x, int64_t height, int64_t width) {
  struct Tap {
    int64_t low, high, weight;
  };
  const auto tap = [](int64_t i, int64_t in, int64_t out) {
    const int64_t p = std::max<int64_t>(0, (2 * i + 1) * in - out);
    const int64_t low = std::min(p / (2 * out), in - 1), high = std::min(low + 1, in - 1);
    const int64_t weight = low == in - 1 ? 0 : ((p - 2 * out * low) * 2048 + out) / (2 * out);
    return Tap{low, high, weight};
  };
  const Tap r = tap(y, image.height, height), k = tap(x, image.width, width);
  const auto at = [&](int64_t row, int64_t column) -> int64_t {
    return static_cast<unsigned char>(
        image.bytes[static_cast<size_t>((c * image.height + row) * image.width + column)]);
  };
  const int64_t top = at(r.low, k.low) * (2048 - k.weight) + at(r.low, k.high) * k.weight;
  const int64_t bottom = at(r.high, k.low) * (2048 - k.weight) + at(r.high, k.high) * k.weight;
  return static_cast<int>((top * (2048 - r.weight) + bottom * r.weight + (1 << 21)) >> 22);
}

TEST(ResizeTest, ComputesTheDocumentedFormulaAtEveryPixel) {
  const Image image = RampImage(3, 11, 7, 200);
  for (const auto& [height, width] :
       std::vector<std::pair<int64_t, int64_t>>{{11, 7}, {5, 3}, {23, 29}, {1, 1}, {12, 2}}) {
    Image out;
    Resize(image, height, width, out);
    ASSERT_EQ(out.bytes.size(), static_cast<size_t>(3 * height * width));
    size_t i = 0;
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
          ASSERT_EQ(static_cast<unsigned char>(out.bytes[i++]),
                    Bilinear(image, c, y, x, height, width))
              << height << "x" << width << " at " << c << " " << y << " " << x;
  }
}

TEST(ResizeTest, KeepsAnImageOfTheSameSizeAndInterpolatesBetweenCenters) {
  const Image image = RampImage(1, 3, 4, 0);
  Image same, twice;
  Resize(image, 3, 4, same);
  EXPECT_EQ(same.bytes, image.bytes);
  Resize({1, 1, 2, std::string("\x00\x64", 2)}, 1, 4, twice);
  EXPECT_EQ(twice.bytes, std::string("\x00\x19\x4b\x64", 4));  // 0, 25, 75, 100
}

}  // namespace
}  // namespace tench::image_test
