// SPDX-License-Identifier: Apache-2.0
#include "parity/sketch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "net/fill.h"

namespace tench {
namespace {

constexpr uint64_t kSeed = 0x70726f6a;
constexpr unsigned kBitsPerElement = 6;  // five choose the sum, one the sign
constexpr size_t kPerWord = 64 / kBitsPerElement;
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int DigitOf(char c) {
  const char* found = c == '\0' ? nullptr : std::strchr(kAlphabet, c);
  return found == nullptr ? -1 : static_cast<int>(found - kAlphabet);
}

}  // namespace

Sketch MakeSketch(std::string_view name, std::span<const float> values) {
  const Generator generator(kSeed, name);
  Sketch sketch;
  double squares = 0;
  for (size_t first = 0; first < values.size(); first += kPerWord) {
    uint64_t bits = generator.Bits(first / kPerWord);
    const size_t end = std::min(first + kPerWord, values.size());
    for (size_t i = first; i < end; ++i, bits >>= kBitsPerElement) {
      const double value = values[i];
      squares += value * value;
      sketch.projections[bits & 31] += (bits & 32) != 0 ? -value : value;
    }
  }
  sketch.norm = std::sqrt(squares);
  return sketch;
}

double Distance(const Sketch& a, const Sketch& b) {
  double squares = 0;
  for (size_t i = 0; i < kProjections; ++i) {
    const double difference = a.projections[i] - b.projections[i];
    squares += difference * difference;
  }
  const double distance = std::sqrt(squares);
  return std::isfinite(distance) && std::isfinite(a.norm) && std::isfinite(b.norm)
             ? distance
             : std::numeric_limits<double>::infinity();
}

std::string EncodeReals(std::span<const float> values) {
  std::vector<unsigned char> bytes(values.size_bytes() + 2);  // a last group may have one byte
  std::memcpy(bytes.data(), values.data(), values.size_bytes());
  std::string text;
  for (size_t i = 0; i < values.size_bytes(); i += 3) {
    const unsigned group =
        unsigned{bytes[i]} << 16 | unsigned{bytes[i + 1]} << 8 | unsigned{bytes[i + 2]};
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[group >> shift & 63];
  }
  return text;
}

Status DecodeReals(std::string_view text, std::span<float> values) {
  const size_t characters = (values.size_bytes() + 2) / 3 * 4;
  if (text.size() != characters)
    return Failed("the text has {} characters instead of {}", text.size(), characters);
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i < characters; i += 4) {
    unsigned group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int digit = DigitOf(text[i + k]);
      if (digit < 0) return Failed("the text is no base64");
      group = group << 6 | static_cast<unsigned>(digit);
    }
    for (int shift = 16; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<unsigned char>(group >> shift));
  }
  std::memcpy(values.data(), bytes.data(), values.size_bytes());
  return Ok();
}

std::string EncodeProjections(const Sketch& sketch) {
  std::array<float, kProjections> values{};
  std::copy(sketch.projections.begin(), sketch.projections.end(), values.begin());
  return EncodeReals(values);
}

Status DecodeProjections(std::string_view text, Sketch& sketch) {
  std::array<float, kProjections> values{};
  TENCH_TRY(DecodeReals(text, values).In("projections"));
  std::copy(values.begin(), values.end(), sketch.projections.begin());
  return Ok();
}

}  // namespace tench
