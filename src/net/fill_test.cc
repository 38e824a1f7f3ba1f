// SPDX-License-Identifier: Apache-2.0
#include "net/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tench::fill_test {
namespace {

using testing::HasSubstr;

constexpr size_t kSamples = 200'000;

// The cells of every row of the table in docs/generator.md whose header row is `heading`, without
// backquotes.
std::vector<std::vector<std::string>> Table(std::string_view heading) {
  const Result<std::string> text =
      ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "docs/generator.md");
  Check(text.ok(), "docs/generator.md is missing");
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (const std::string& line : Split(*text, '\n')) {
    if (line == heading) {
      inside = true;
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && !line.starts_with("|---")) {
      std::vector<std::string> cells;
      for (const std::string& cell :
           Split(std::string_view(line).substr(1, line.size() - 2), '|')) {
        std::string_view trimmed = Trim(cell);
        if (trimmed.size() >= 2 && trimmed.front() == '`')
          trimmed = trimmed.substr(1, trimmed.size() - 2);
        cells.emplace_back(trimmed);
      }
      rows.push_back(cells);
    }
  }
  return rows;
}

uint64_t Decimal(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }
uint64_t Hexadecimal(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 16); }

Fill FillOf(const std::string& text) {
  const Result<Json> json = ParseJson(text, "fill");
  Check(json.ok(), "a fill in docs/generator.md is no JSON");
  const std::string kind = json->at("kind");
  const auto number = [&](const char* key) { return json->at(key).get<double>(); };
  if (kind == "constant") return {FillKind::kConstant, number("value"), 0};
  if (kind == "uniform") return {FillKind::kUniform, number("low"), number("high")};
  if (kind == "integer") return {FillKind::kInteger, number("low"), number("high")};
  Check(kind == "gaussian", "docs/generator.md has a fill that is not resolved");
  return {FillKind::kGaussian, number("mean"), number("std")};
}

TEST(GeneratorTest, MakesTheDocumentedVectors) {
  const auto integers = Table("| seed | name | index | bits | integer |");
  const auto reals = Table("| seed | name | index | uniform | gaussian |");
  ASSERT_GE(integers.size(), 10u);
  ASSERT_GE(reals.size(), 10u);
  for (const auto& row : integers) {
    ASSERT_EQ(row.size(), 5u);
    const Generator generator(Decimal(row[0]), row[1]);
    const uint64_t index = Decimal(row[2]);
    EXPECT_EQ(generator.Bits(index), Hexadecimal(row[3])) << row[1];
    EXPECT_EQ(generator.Integer(index, 0, 1000), static_cast<int64_t>(Decimal(row[4]))) << row[1];
  }
  for (const auto& row : reals) {
    ASSERT_EQ(row.size(), 5u);
    const Generator generator(Decimal(row[0]), row[1]);
    const uint64_t index = Decimal(row[2]);
    EXPECT_EQ(generator.Uniform(index), std::strtod(row[3].c_str(), nullptr)) << row[1];
    EXPECT_EQ(generator.Gaussian(index), std::strtod(row[4].c_str(), nullptr)) << row[1];
  }
}

// bits(i) = mix(key + (i + 1) · step): at the index where the argument equals the key, it is
// mix(key).
TEST(GeneratorTest, HasTheDocumentedKeys) {
  const auto rows = Table("| seed | name | key |");
  ASSERT_GE(rows.size(), 4u);
  for (const auto& row : rows) {
    uint64_t z = Hexadecimal(row[2]);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    EXPECT_EQ(Generator(Decimal(row[0]), row[1]).Bits(std::numeric_limits<uint64_t>::max()),
              z ^ (z >> 31))
        << row[1];
  }
}

TEST(FillTest, MakesTheDocumentedFloats) {
  const auto rows = Table("| seed | name | fill | index | float |");
  ASSERT_GE(rows.size(), 6u);
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 5u);
    float value = 0;
    FillTensor(Decimal(row[0]), row[1], FillOf(row[2]), Decimal(row[3]), std::span(&value, 1));
    EXPECT_EQ(std::bit_cast<uint32_t>(value), Hexadecimal(row[4])) << row[1] << " " << row[2];
  }
}

struct Moments {
  double mean = 0, variance = 0;
};
template <class Draw>
Moments MomentsOf(const Draw& draw) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < kSamples; ++i) {
    const double value = draw(i);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kSamples;
  return {mean, squares / kSamples - mean * mean};
}

// The correlation of two streams of mean 0 and variance 1. Its standard deviation is 1 /
// sqrt(kSamples) = 0.0022.
template <class X, class Y>
double Correlation(const X& x, const Y& y) {
  double sum = 0;
  for (size_t i = 0; i < kSamples; ++i) sum += x(i) * y(i);
  return sum / kSamples;
}
constexpr double kNoCorrelation = 5 * 0.00224;

TEST(GeneratorTest, UniformsHaveTheRightMomentsAndStayBelowOne) {
  const Generator generator(1, "conv1.weight");
  const Moments moments = MomentsOf([&](size_t i) {
    const double value = generator.Uniform(i);
    EXPECT_TRUE(value >= 0 && value < 1);
    return value;
  });
  EXPECT_NEAR(moments.mean, 0.5, 5 * 0.00065);
  EXPECT_NEAR(moments.variance, 1.0 / 12, 5 * 0.00017);
}

TEST(GeneratorTest, GaussiansHaveTheRightMomentsAndTails) {
  const Generator generator(1, "conv1.weight");
  const Moments moments = MomentsOf([&](size_t i) { return generator.Gaussian(i); });
  EXPECT_NEAR(moments.mean, 0, 5 * 0.00224);
  EXPECT_NEAR(moments.variance, 1, 5 * 0.0031);
  const Moments beyond_one =
      MomentsOf([&](size_t i) { return std::abs(generator.Gaussian(i)) > 1 ? 1.0 : 0.0; });
  EXPECT_NEAR(beyond_one.mean, 0.3173, 0.01);
  const Moments beyond_three =
      MomentsOf([&](size_t i) { return std::abs(generator.Gaussian(i)) > 3 ? 1.0 : 0.0; });
  EXPECT_GT(beyond_three.mean, 0.0008);
  EXPECT_LT(beyond_three.mean, 0.0027);
}

TEST(GeneratorTest, NeighbouringIndicesAreIndependent) {
  const Generator generator(1, "fc6.weight");
  for (size_t lag : {1, 2, 3, 8, 28, 4096}) {
    EXPECT_NEAR(Correlation([&](size_t i) { return generator.Gaussian(i); },
                            [&](size_t i) { return generator.Gaussian(i + lag); }),
                0, kNoCorrelation)
        << lag;
  }
}

TEST(GeneratorTest, NamesAndSeedsGiveIndependentStreams) {
  const Generator base(1, "conv1.weight");
  const auto against = [&](const Generator& other) {
    return Correlation([&](size_t i) { return base.Gaussian(i); },
                       [&](size_t i) { return other.Gaussian(i); });
  };
  EXPECT_NEAR(against(Generator(1, "conv2.weight")), 0, kNoCorrelation);
  EXPECT_NEAR(against(Generator(1, "conv1.bias")), 0, kNoCorrelation);
  EXPECT_NEAR(against(Generator(2, "conv1.weight")), 0, kNoCorrelation);
  EXPECT_NEAR(against(Generator(0, "conv1.weight")), 0, kNoCorrelation);
  EXPECT_NEAR(against(base), 1, 0.02) << "the measure itself";
}

TEST(GeneratorTest, EveryBitIsAsOftenSetAsNot) {
  const Generator generator(3, "data");
  std::vector<int> set(64);
  for (size_t i = 0; i < kSamples; ++i) {
    const uint64_t bits = generator.Bits(i);
    for (size_t bit = 0; bit < 64; ++bit) set[bit] += (bits >> bit) & 1;
  }
  for (int count : set) EXPECT_NEAR(count, kSamples / 2.0, 5.5 * std::sqrt(kSamples / 4.0));
}

TEST(GeneratorTest, IntegersCoverTheirRangeEvenly) {
  const Generator generator(1, "label");
  std::vector<int> seen(10);
  for (size_t i = 0; i < kSamples; ++i)
    ++seen.at(static_cast<size_t>(generator.Integer(i, 5, 15) - 5));
  double chi_squared = 0;
  for (int count : seen) chi_squared += std::pow(count - kSamples / 10.0, 2) / (kSamples / 10.0);
  EXPECT_LT(chi_squared, 33.7) << "one in ten thousand";
  EXPECT_EQ(generator.Integer(9, 7, 8), 7);
}

TEST(GeneratorTest, IntegersMaySpanAll32Bits) {
  const Generator generator(1, "x");
  bool below = false, above = false;
  for (uint64_t i = 0; i < 100; ++i) {
    const int64_t value = generator.Integer(i, -(int64_t{1} << 31), int64_t{1} << 31);
    below = below || value < -(1 << 30);
    above = above || value > (1 << 30);
  }
  EXPECT_TRUE(below && above);
}

TEST(FillTest, AnyPartOfATensorHasTheSameBitsAsTheWhole) {
  for (const Fill& fill : {Fill{FillKind::kGaussian, 0.5, 0.1}, Fill{FillKind::kUniform, -1, 3},
                           Fill{FillKind::kInteger, 0, 256}}) {
    std::vector<float> whole(1000), part(250);
    FillTensor(7, "x", fill, 0, whole);
    FillTensor(7, "x", fill, 500, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 500));
    EXPECT_GT(std::set<float>(whole.begin(), whole.end()).size(), 100u);
  }
}

TEST(FillTest, ThreadsDoNotChangeABit) {
  const Fill fill{FillKind::kGaussian, 0, 0.01};
  std::vector<float> one(300'001), many(300'001);
  FillTensor(1, "fc6.weight", fill, 12345, one, 1);
  for (int threads : {0, 2, 3, 64}) {
    std::fill(many.begin(), many.end(), 0.0f);
    FillTensor(1, "fc6.weight", fill, 12345, many, threads);
    EXPECT_EQ(one, many) << threads;
  }
}

TEST(FillTest, FillsNothingIntoNothing) {
  FillTensor(1, "x", {FillKind::kGaussian, 0, 1}, 0, std::span<float>(), 8);
  FillTensor(1, "x", {FillKind::kInteger, 0, 5}, 0, std::span<int32_t>());
}

TEST(FillTest, IntegerTensorsTakeIntegersAndConstants) {
  std::vector<int32_t> values(100);
  FillTensor(1, "label", {FillKind::kInteger, 0, 10}, 0, std::span(values));
  const Generator generator(1, "label");
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], generator.Integer(i, 0, 10));
  FillTensor(1, "label", {FillKind::kConstant, 3, 0}, 0, std::span(values));
  EXPECT_EQ(values, std::vector<int32_t>(100, 3));
}

TEST(FillTest, ResolvesFansFromTheShape) {
  const Shape conv = {64, 3, 7, 7}, fc = {10, 500};
  const Fill xavier = ResolveFill({FillKind::kXavier, 0, 0}, fc);
  EXPECT_EQ(xavier, (Fill{FillKind::kUniform, -std::sqrt(3.0 / 500), std::sqrt(3.0 / 500)}));
  EXPECT_EQ(ResolveFill({FillKind::kMsra, 0, 0}, conv),
            (Fill{FillKind::kGaussian, 0, std::sqrt(2.0 / 147)}));
  EXPECT_EQ(ResolveFill({FillKind::kMsraFanOut, 0, 0}, conv),
            (Fill{FillKind::kGaussian, 0, std::sqrt(2.0 / (64 * 49))}));
  EXPECT_EQ(ResolveFill({FillKind::kMsraFanOut, 0, 0}, fc),
            (Fill{FillKind::kGaussian, 0, std::sqrt(2.0 / 10)}));
  const Fill plain{FillKind::kUniform, 0, 1};
  EXPECT_EQ(ResolveFill(plain, conv), plain);
}

TEST(FillTest, ChecksItsNumbers) {
  EXPECT_TRUE(CheckFill({FillKind::kUniform, 0, 0}).ok());
  EXPECT_TRUE(CheckFill({FillKind::kInteger, -0x1p31, 0x1p31}).ok());
  const auto error = [](const Fill& fill) {
    const Status status = CheckFill(fill);
    return status.ok() ? "no error" : status.error().message;
  };
  EXPECT_THAT(error({FillKind::kConstant, std::nan(""), 0}), HasSubstr("nan"));
  EXPECT_THAT(error({FillKind::kUniform, 0, 1e31}), HasSubstr("1e+31"));
  EXPECT_THAT(error({FillKind::kUniform, 2, 1}), HasSubstr("from 2 down to 1"));
  EXPECT_THAT(error({FillKind::kGaussian, 0, -1}), HasSubstr("deviation of -1"));
  EXPECT_THAT(error({FillKind::kInteger, 0, 0}), HasSubstr("not empty"));
  EXPECT_THAT(error({FillKind::kInteger, 0.5, 3}), HasSubstr("32-bit integers"));
  EXPECT_THAT(error({FillKind::kInteger, 0, 0x1p32}), HasSubstr("32-bit integers"));
}

}  // namespace
}  // namespace tench::fill_test
