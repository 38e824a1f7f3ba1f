// SPDX-License-Identifier: Apache-2.0
#include "parity/sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "net/fill.h"

namespace tench::sketch_test {
namespace {

std::vector<float> Values(uint64_t seed, size_t count) {
  std::vector<float> values(count);
  FillTensor(seed, "values", {FillKind::kGaussian, 0, 1}, 0, values);
  return values;
}

TEST(SketchTest, EstimatesTheNormOfASpreadDifferenceWithinAThird) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<float> a = Values(seed, 5000);
    std::vector<float> b = a;
    double squares = 0;
    const std::vector<float> noise = Values(seed + 100, 5000);
    for (size_t i = 0; i < b.size(); ++i) {
      b[i] += 1e-3f * noise[i];
      squares += std::pow(double{b[i]} - a[i], 2);
    }
    EXPECT_NEAR(Distance(MakeSketch("t", a), MakeSketch("t", b)) / std::sqrt(squares), 1, 0.45)
        << seed;
  }
}

TEST(SketchTest, SeesOneElementExactly) {
  const std::vector<float> a = Values(3, 1000);
  for (const size_t at : {0u, 9u, 10u, 999u}) {
    std::vector<float> b = a;
    b[at] += 0.5f;
    EXPECT_NEAR(Distance(MakeSketch("t", a), MakeSketch("t", b)), std::abs(double{b[at]} - a[at]),
                1e-12);
  }
}

TEST(SketchTest, SeesTwoElementsThatChangedPlaces) {
  std::vector<float> a = Values(4, 25), b = a;
  std::reverse(b.begin(), b.end());
  EXPECT_GT(Distance(MakeSketch("t", a), MakeSketch("t", b)), 1);
}

TEST(SketchTest, IsTheSameForTheSameBits) {
  const std::vector<float> a = Values(5, 77);
  EXPECT_EQ(Distance(MakeSketch("t", a), MakeSketch("t", a)), 0);
}

TEST(SketchTest, IsInfinitelyFarFromNanAndInfinity) {
  const std::vector<float> a = Values(6, 50);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> b = a;
    b[20] = bad;
    EXPECT_TRUE(std::isinf(Distance(MakeSketch("t", a), MakeSketch("t", b))));
    EXPECT_TRUE(std::isinf(Distance(MakeSketch("t", b), MakeSketch("t", b))));
  }
}

TEST(SketchTest, SurvivesItsTextWithinTheRoundingOfF32) {
  const Sketch sketch = MakeSketch("t", Values(7, 4000));
  const std::string text = EncodeProjections(sketch);
  EXPECT_EQ(text.size(), 172u);
  Sketch read;
  read.norm = sketch.norm;
  ASSERT_TRUE(DecodeProjections(text, read).ok());
  EXPECT_LT(Distance(sketch, read), 1e-7 * sketch.norm);
  EXPECT_GT(read.projections[31] * sketch.projections[31], 0);
}

TEST(SketchTest, RefusesTextThatIsNone) {
  Sketch sketch;
  EXPECT_FALSE(DecodeProjections("", sketch).ok());
  EXPECT_FALSE(DecodeProjections(std::string(172, '!'), sketch).ok());
  EXPECT_FALSE(DecodeProjections(std::string(171, 'A'), sketch).ok());
}

}  // namespace
}  // namespace tench::sketch_test
