// SPDX-License-Identifier: Apache-2.0
// The generator is SplitMix64 (Steele, Lea and Flood 2014) with random access: word i is a
// bijective mix of key + (i + 1) · (an odd constant), where the key depends on the seed and the
// tensor name. A Gaussian is the centred sum of eight 16-bit uniforms (Irwin-Hall distribution). It
// uses integers up to one final multiplication, so it has the same bits on every machine; its tails
// end at ±4.9.
#include "net/fill.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "base/text.h"

namespace tench {
namespace {

constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
constexpr double kUniformScale = 0x1p-53;
constexpr int64_t kGaussianCentre = 8 * 65535 / 2;
// 1 / sqrt(8 * (65536^2 - 1) / 12), rounded to nearest.
constexpr double kGaussianScale = 0x1.3988e1412ed76p-16;
constexpr size_t kMinPerThread = size_t{1} << 16;

inline uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

inline uint64_t Word(uint64_t key, uint64_t counter) { return Mix(key + (counter + 1) * kStep); }

inline double UniformOf(uint64_t key, uint64_t index) {
  return static_cast<double>(Word(key, index) >> 11) * kUniformScale;
}

inline double GaussianOf(uint64_t key, uint64_t index) {
  constexpr uint64_t kLanes = 0x0000FFFF0000FFFF;
  const uint64_t x = Word(key, 2 * index), y = Word(key, 2 * index + 1);
  const uint64_t pairs = (x & kLanes) + ((x >> 16) & kLanes) + (y & kLanes) + ((y >> 16) & kLanes);
  const int64_t sum = static_cast<int64_t>((pairs & 0xFFFFFFFF) + (pairs >> 32));
  return static_cast<double>(sum - kGaussianCentre) * kGaussianScale;
}

inline int64_t IntegerOf(uint64_t key, uint64_t index, int64_t low, uint64_t range) {
  return low + static_cast<int64_t>(((Word(key, index) >> 32) * range) >> 32);
}

uint64_t KeyOf(uint64_t seed, std::string_view tensor_name) {
  return Mix(Mix(seed + kStep) ^ Hash64(tensor_name));
}

void FillSpan(uint64_t key, const Fill& fill, uint64_t first, std::span<float> out) {
  switch (fill.kind) {
    case FillKind::kConstant:
      std::fill(out.begin(), out.end(), static_cast<float>(fill.a));
      return;
    case FillKind::kUniform: {
      const double low = fill.a, width = fill.b - fill.a;
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(low + width * UniformOf(key, first + i));
      return;
    }
    case FillKind::kGaussian: {
      const double mean = fill.a, deviation = fill.b;
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(mean + deviation * GaussianOf(key, first + i));
      return;
    }
    case FillKind::kInteger: {
      const int64_t low = static_cast<int64_t>(fill.a);
      const uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(fill.b) - low);
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(IntegerOf(key, first + i, low, range));
      return;
    }
    case FillKind::kXavier:
    case FillKind::kMsra:
    case FillKind::kMsraFanOut:
      break;
  }
  Check(false, "a fill was used before it was resolved");
}

}  // namespace

Generator::Generator(uint64_t seed, std::string_view tensor_name)
    : key_(KeyOf(seed, tensor_name)) {}

uint64_t Generator::Bits(uint64_t counter) const { return Word(key_, counter); }
double Generator::Uniform(uint64_t index) const { return UniformOf(key_, index); }
double Generator::Gaussian(uint64_t index) const { return GaussianOf(key_, index); }

int64_t Generator::Integer(uint64_t index, int64_t low, int64_t high) const {
  Check(low < high && static_cast<uint64_t>(high) - static_cast<uint64_t>(low) <= uint64_t{1} << 32,
        "a range of integers is invalid");
  return IntegerOf(key_, index, low, static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
}

Status CheckFill(const Fill& fill) {
  // Far below the largest float, so that no sum or product of two values overflows.
  constexpr double kLargest = 1e30;
  for (double value : {fill.a, fill.b}) {
    if (!(std::abs(value) <= kLargest))
      return Failed("its fill has the number {}, which is not within ±{}", value, kLargest);
  }
  switch (fill.kind) {
    case FillKind::kUniform:
      if (fill.a > fill.b)
        return Failed("its uniform fill goes from {} down to {}", fill.a, fill.b);
      return Ok();
    case FillKind::kGaussian:
      if (fill.b < 0) return Failed("its Gaussian fill has a standard deviation of {}", fill.b);
      return Ok();
    case FillKind::kInteger:
      if (fill.a != std::floor(fill.a) || fill.b != std::floor(fill.b) || fill.a >= fill.b ||
          fill.a < -0x1p31 || fill.b > 0x1p31) {
        return Failed(
            "its integer fill [{}, {}) must be a range of 32-bit integers that is not empty",
            fill.a, fill.b);
      }
      return Ok();
    default:
      return Ok();
  }
}

Fill ResolveFill(const Fill& fill, const Shape& shape) {
  const double count = static_cast<double>(ElementCount(shape));
  const double fan_in = shape.empty() ? 1 : count / static_cast<double>(shape[0]);
  const double fan_out = shape.size() < 2 ? count : count / static_cast<double>(shape[1]);
  switch (fill.kind) {
    case FillKind::kXavier: {
      const double bound = std::sqrt(3 / fan_in);
      return {FillKind::kUniform, -bound, bound};
    }
    case FillKind::kMsra:
      return {FillKind::kGaussian, 0, std::sqrt(2 / fan_in)};
    case FillKind::kMsraFanOut:
      return {FillKind::kGaussian, 0, std::sqrt(2 / fan_out)};
    default:
      return fill;
  }
}

void FillTensor(uint64_t seed, std::string_view name, const Fill& fill, uint64_t first_index,
                std::span<float> out, int threads) {
  const uint64_t key = KeyOf(seed, name);
  const size_t workers =
      std::clamp<size_t>(out.size() / kMinPerThread, 1, static_cast<size_t>(std::max(threads, 1)));
  const size_t share = (out.size() + workers - 1) / workers;
  std::vector<std::jthread> pool;
  for (size_t begin = share; begin < out.size(); begin += share) {
    const std::span<float> part = out.subspan(begin, std::min(share, out.size() - begin));
    pool.emplace_back([=] { FillSpan(key, fill, first_index + begin, part); });
  }
  FillSpan(key, fill, first_index, out.first(std::min(share, out.size())));
}

void FillTensor(uint64_t seed, std::string_view name, const Fill& fill, uint64_t first_index,
                std::span<int32_t> out) {
  if (fill.kind == FillKind::kConstant) {
    std::fill(out.begin(), out.end(), static_cast<int32_t>(fill.a));
    return;
  }
  Check(fill.kind == FillKind::kInteger, "an integer tensor needs an integer fill");
  const Generator generator(seed, name);
  const int64_t low = static_cast<int64_t>(fill.a), high = static_cast<int64_t>(fill.b);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<int32_t>(generator.Integer(first_index + i, low, high));
}

}  // namespace tench
